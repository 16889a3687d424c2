import Glibc

/// Takes a body piece by piece: counts it against the limit, digests it, and writes it to the destination.
///
/// SHA-256 is always computed; what another checksum demands, besides.
final class BodyWriter {
  private let request: TransferRequest
  private let source: String
  private let maxBytes: Int
  private let sha256: MessageDigest
  private let demanded: MessageDigest?

  /// How many bytes have been written.
  private(set) var bytes = 0

  /// - Parameters:
  ///   - request: Tells the destination, the checksum, and what error messages call the source.
  ///   - maxBytes: The largest body allowed.
  init(_ request: TransferRequest, maxBytes: Int) {
    self.request = request
    self.maxBytes = maxBytes
    source = request.location.redacted
    let sha256 = MessageDigest()
    self.sha256 = sha256
    demanded = request.checksum.map { $0.algorithm == .sha256 ? sha256 : MessageDigest($0.algorithm) }
  }

  /// Adds a piece.
  /// - Throws: `too-large` before anything beyond the limit is written; `io` when `write` fails.
  func append(_ piece: UnsafeRawBufferPointer) throws(TransferError) {
    guard piece.count <= maxBytes - bytes else {
      throw TransferError(.tooLarge, "max-bytes is \(maxBytes); \(source) sent at least \(bytes + piece.count)")
    }
    sha256.update(piece)
    if let demanded, demanded !== sha256 { demanded.update(piece) }
    var rest = piece
    while !rest.isEmpty {
      let count = write(request.destination, rest.baseAddress, rest.count)
      if count < 0 {
        let number = errno
        if number == EINTR { continue }
        throw TransferError(.io, "cannot write what \(source) sends: \(systemMessage(number))", systemError: number)
      }
      bytes += count
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Refuses a body by its announced size.
  /// - Throws: `too-large`.
  func checkAnnounced(_ size: Int) throws(TransferError) {
    guard size <= maxBytes else {
      throw TransferError(.tooLarge, "max-bytes is \(maxBytes); \(source) announces \(size)")
    }
  }

  /// The SHA-256 of what was written; ends the body.
  /// - Throws: `checksum-mismatch` when it has another digest than the request demands.
  func finish() throws(TransferError) -> String {
    if let checksum = request.checksum, let demanded, demanded.hexDigest() != checksum.digest {
      throw TransferError(
        .checksumMismatch,
        "\(source) should have \(checksum); its \(bytes) bytes have \(checksum.algorithm.rawValue)=\(demanded.hexDigest())"
      )
    }
    return sha256.hexDigest()
  }
}
