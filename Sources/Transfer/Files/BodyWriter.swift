import System

/// Writes a body to its destination piece by piece, within the size limit, and computes its digests; of a body
/// in memory only if they are needed before its transfer ends.
final class BodyWriter {
  private let request: TransferRequest
  private let source: String
  private let maxBytes: Int
  private var digests: BodyDigests

  /// Whether the digests contain what is in memory, too: nothing more is written.
  private var isDigested = false

  /// The length of the body so far.
  private(set) var bytes = 0

  /// The number of written bytes, including those replaced since, without those of an earlier transfer.
  private(set) var received = 0

  /// - Parameters:
  ///   - request: Destination, checksum, and the source's name in error messages.
  ///   - maxBytes: The largest body allowed.
  ///   - begun: The existing beginning of the destination. Default: none.
  init(_ request: TransferRequest, maxBytes: Int, begun: PartialBody.Content? = nil) {
    self.request = request
    self.maxBytes = maxBytes
    source = request.location.redacted
    digests = begun?.digests ?? BodyDigests(for: request.checksum)
    bytes = begun?.bytes ?? 0
  }

  /// Appends a piece.
  /// - Throws: `too-large`, before any byte beyond the limit is written; `io` when `write` fails.
  func append(_ piece: UnsafeRawBufferPointer) throws(TransferError) {
    guard piece.count <= maxBytes - bytes else {
      throw TransferError(.tooLarge, "--max-bytes is \(ByteCount(maxBytes)); \(source) sent more")
    }
    guard let destination = request.destination else {
      digests.update(piece)
      return bytes += piece.count
    }
    do throws(SystemError) {
      try destination.append(piece, digest: digests.update)
    } catch {
      throw .unwritten(source, error)
    }
    bytes += piece.count
    received += piece.count
  }

  /// Starts the body again: the destination is emptied.
  /// - Throws: `io`.
  func restart() throws(TransferError) {
    do throws(SystemError) {
      try request.destination?.restart()
    } catch {
      let message = "cannot begin \(source) again: \(systemMessage(error.code))"
      throw TransferError(.io, message, systemError: error.code)
    }
    (digests, isDigested) = (BodyDigests(for: request.checksum), false)
    bytes = 0
  }

  /// The digests of the whole body.
  private func complete() -> BodyDigests {
    if !isDigested { request.destination?.readHeld(digests.update) }
    isDigested = true
    return digests
  }

  /// Checks the announced size of a body, before it is written.
  /// - Throws: `too-large` when it exceeds the limit.
  func checkAnnounced(_ size: Int) throws(TransferError) {
    guard size <= maxBytes else {
      throw TransferError(
        .tooLarge, "--max-bytes is \(ByteCount(maxBytes)); \(source) announces more: \(ByteCount(size))")
    }
    request.destination?.announce(size)
  }

  /// The partial body for a later transfer to continue. This one writes nothing more.
  func partial(of source: PartialBody.Source) -> PartialBody.Content {
    PartialBody.Content(source: source, digests: complete(), bytes: bytes)
  }

  /// Whether the body has the digest of the request's checksum, if there is one. After this, nothing more is written, unless it
  /// starts again.
  var matchesChecksum: Bool { request.checksum.map { $0.digest == complete().finish().checksum } ?? true }

  /// Ends the body.
  /// - Returns: The SHA-256 of the written bytes; empty when they are in memory, and there is no checksum: then
  ///   `TransferOutcome.settled` computes it, on another thread than that which transfers.
  /// - Throws: `checksum-mismatch` when their digest differs from the request's checksum.
  func finish() throws(TransferError) -> String {
    if request.checksum == nil, request.destination?.isInFile == false { return "" }
    let (sha256, found) = complete().finish()
    if let checksum = request.checksum, let found, found != checksum.digest {
      throw TransferError(
        .checksumMismatch,
        "\(source) should have \(checksum); its \(bytes) bytes have \(checksum.algorithm.rawValue)=\(found)")
    }
    return sha256
  }
}
