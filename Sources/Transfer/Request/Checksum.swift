import System

/// The expected digest of a source's bytes.
package struct Checksum: Sendable, Hashable, CustomStringConvertible {
  package let algorithm: MessageDigest.Algorithm

  /// Lower-case hexadecimal digits, the algorithm's number of them.
  package let digest: String

  /// Parses `TYPE=HEX`, aria2's notation: `sha-256=e3b0c442…`. Digits may have either case.
  /// - Throws: `ParseError`, whose message describes the expected notation.
  package init(parsing text: some StringProtocol) throws(ParseError) {
    let shown = String(text)
    guard let equals = shown.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      throw ParseError("a checksum is TYPE=HEX, such as sha-256=e3b0c442…, not \"\(shown)\"")
    }
    let type = String(shown[..<equals])
    guard let algorithm = MessageDigest.Algorithm(rawValue: type) else {
      let known = MessageDigest.Algorithm.allCases.map(\.rawValue).joined(separator: ", ")
      throw ParseError("unknown checksum type \"\(type)\"; there are \(known)")
    }
    let digest = shown[shown.index(after: equals)...].lowercased()
    let count = algorithm.hexDigitCount
    guard digest.utf8.count == count, digest.utf8.allSatisfy(Self.hexDigits.contains) else {
      throw ParseError("a \(type) digest has \(count) hexadecimal digits; \"\(digest)\" is not one")
    }
    self.algorithm = algorithm
    self.digest = digest
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)

  /// Checks a file from its start to its end.
  /// - Parameter source: The source's name in error messages.
  /// - Throws: `checksum-mismatch`; `io` when it cannot be read.
  package func check(_ descriptor: Int32, of source: String) throws(TransferError) {
    let found: String
    do {
      found = try MessageDigest.hexDigest(ofDescriptor: descriptor, algorithm)
    } catch {
      let message = "cannot read the file to digest: \(systemMessage(error.code))"
      throw TransferError(.io, message, systemError: error.code)
    }
    guard found == digest else {
      throw TransferError(.checksumMismatch, "\(source) should have \(self); it has \(algorithm.rawValue)=\(found)")
    }
  }

  /// The canonical notation, which `init(parsing:)` accepts.
  package var description: String { "\(algorithm.rawValue)=\(digest)" }
}

/// The digests of a body as it arrives: SHA-256, and that of the request's checksum.
final class BodyDigests {
  private lazy var sha256 = MessageDigest()

  /// The digest for the request's checksum; the same object as `sha256` when it is a SHA-256. `nil` without a checksum.
  private lazy var other = checksum.map { $0.algorithm == .sha256 ? sha256 : MessageDigest($0.algorithm) }
  private let checksum: Checksum?

  init(for checksum: Checksum?) { self.checksum = checksum }

  func update(_ piece: UnsafeRawBufferPointer) {
    sha256.update(piece)
    if let other, other !== sha256 { other.update(piece) }
  }

  /// Ends the digests.
  /// - Returns: The SHA-256, and the digest for the checksum, in lower-case hexadecimal.
  func finish() -> (sha256: String, checksum: String?) { (sha256.hexDigest(), other?.hexDigest()) }
}
