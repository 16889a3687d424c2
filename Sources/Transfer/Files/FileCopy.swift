import Glibc
import Synchronization
import System

/// A running transfer of a file beneath the file root.
final class FileCopy: Sendable {
  let queued: QueuedTransfer
  private let isCancelled = Atomic(false)

  init(_ queued: QueuedTransfer) { self.queued = queued }

  /// Makes the copy fail with `cancelled` before it reads the next piece.
  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Copies the file, with the limits and digests of any transfer.
  func result(_ configuration: TransferConfiguration) -> Result<TransferOutcome, TransferError> {
    do throws(TransferError) {
      return .success(try copy(configuration))
    } catch {
      return .failure(error)
    }
  }

  private func copy(_ configuration: TransferConfiguration) throws(TransferError) -> TransferOutcome {
    let location = queued.request.location
    let started = ContinuousClock.now
    guard let root = configuration.fileRoot else {
      throw TransferError(.schemeNotAllowed, location.fileNotAllowed)
    }
    try checkCancelled()
    let file = try FileRoot(path: root).open(location)
    let body = BodyWriter(queued.request, maxBytes: configuration.maxBytes)
    try body.checkAnnounced(file.size)

    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { buffer.deallocate() }
    while true {
      try checkCancelled()
      let count = read(file.descriptor, buffer.baseAddress, buffer.count)
      if count == 0 { break }
      if count < 0 {
        let number = errno
        if number == EINTR { continue }
        throw TransferError(
          .io, "cannot read \(location.redacted): \(systemMessage(number))", systemError: number, isOfSource: true)
      }
      try body.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    guard body.bytes >= file.size else {
      throw TransferError(.truncated, "\(location.redacted) had \(file.size) bytes and ended after \(body.bytes)")
    }
    let seconds = (ContinuousClock.now - started) / .seconds(1)
    return TransferOutcome(
      httpStatus: nil, validators: nil, mayBeStored: false, finalURL: location.redacted, bytes: body.bytes,
      received: body.bytes,
      sha256: try body.finish(), contentType: nil, requests: RequestCount(), seconds: seconds,
      answer: nil)
  }

  private func checkCancelled() throws(TransferError) {
    if isCancelled.load(ordering: .relaxed) { throw .cancelled(queued.request.location) }
  }
}
