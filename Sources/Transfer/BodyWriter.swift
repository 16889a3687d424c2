import Glibc

/// Takes a body piece by piece: counts it against the limit, digests it, and writes it to the destination.
final class BodyWriter {
  private let destination: Int32
  private let source: String
  private let maxBytes: Int
  private let digest = MessageDigest()

  /// How many bytes have been written.
  private(set) var bytes = 0

  /// - Parameters:
  ///   - destination: A descriptor open for writing.
  ///   - source: What error messages call the source.
  ///   - maxBytes: The largest body allowed.
  init(destination: Int32, source: String, maxBytes: Int) {
    self.destination = destination
    self.source = source
    self.maxBytes = maxBytes
  }

  /// Adds a piece.
  /// - Throws: `too-large` before anything beyond the limit is written; `io` when `write` fails.
  func append(_ piece: UnsafeRawBufferPointer) throws(TransferError) {
    guard piece.count <= maxBytes - bytes else {
      throw TransferError(.tooLarge, "max-bytes is \(maxBytes); \(source) sent at least \(bytes + piece.count)")
    }
    digest.update(piece)
    var rest = piece
    while !rest.isEmpty {
      let count = write(destination, rest.baseAddress, rest.count)
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
  func finish() -> String { digest.hexDigest() }
}
