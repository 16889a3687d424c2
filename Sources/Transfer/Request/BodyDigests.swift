import System

/// The digests of a body as it arrives: SHA-256, and that of the request's checksum.
final class BodyDigests {
  private let sha256 = MessageDigest()

  /// The digest for the request's checksum; the same object as `sha256` when it is a SHA-256. `nil` without a checksum.
  private let other: MessageDigest?

  init(for checksum: Checksum?) {
    let sha256 = sha256
    other = checksum.map { $0.algorithm == .sha256 ? sha256 : MessageDigest($0.algorithm) }
  }

  func update(_ piece: UnsafeRawBufferPointer) {
    sha256.update(piece)
    if let other, other !== sha256 { other.update(piece) }
  }

  /// Ends the digests.
  /// - Returns: The SHA-256, and the digest for the checksum, in lower-case hexadecimal.
  func finish() -> (sha256: String, checksum: String?) { (sha256.hexDigest(), other?.hexDigest()) }
}
