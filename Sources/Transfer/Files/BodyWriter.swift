import Glibc
import System

/// Writes a body piece by piece to its destination, within the size limit, and computes its digests: SHA-256, and that of
/// the request's checksum.
final class BodyWriter {
  private let request: TransferRequest
  private let source: String
  private let maxBytes: Int
  private let sha256: MessageDigest
  /// The digest for the request's checksum; the same object as `sha256` when it is a SHA-256. `nil` without a checksum.
  private let checksumDigest: MessageDigest?

  /// How many bytes have been written.
  private(set) var bytes = 0

  /// - Parameters:
  ///   - request: Destination, checksum, and the source's name in error messages.
  ///   - maxBytes: The largest body allowed.
  init(_ request: TransferRequest, maxBytes: Int) {
    self.request = request
    self.maxBytes = maxBytes
    source = request.location.redacted
    let sha256 = MessageDigest()
    self.sha256 = sha256
    checksumDigest = request.checksum.map { $0.algorithm == .sha256 ? sha256 : MessageDigest($0.algorithm) }
  }

  /// Appends a piece.
  /// - Throws: `too-large`, before any byte beyond the limit is written; `io` when `write` fails.
  func append(_ piece: UnsafeRawBufferPointer) throws(TransferError) {
    guard piece.count <= maxBytes - bytes else {
      throw TransferError(.tooLarge, "max-bytes is \(maxBytes); \(source) sent at least \(bytes + piece.count)")
    }
    sha256.update(piece)
    if let checksumDigest, checksumDigest !== sha256 { checksumDigest.update(piece) }
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

  /// Checks the announced size of a body.
  /// - Throws: `too-large` when it exceeds the limit.
  func checkAnnounced(_ size: Int) throws(TransferError) {
    guard size <= maxBytes else {
      throw TransferError(.tooLarge, "max-bytes is \(maxBytes); \(source) announces \(size)")
    }
  }

  /// Ends the body.
  /// - Returns: The SHA-256 of the bytes that were written.
  /// - Throws: `checksum-mismatch` when they have another digest than the request's checksum.
  func finish() throws(TransferError) -> String {
    if let checksum = request.checksum, let checksumDigest, checksumDigest.hexDigest() != checksum.digest {
      throw TransferError(
        .checksumMismatch,
        "\(source) should have \(checksum); its \(bytes) bytes have \(checksum.algorithm.rawValue)=\(checksumDigest.hexDigest())"
      )
    }
    return sha256.hexDigest()
  }
}
