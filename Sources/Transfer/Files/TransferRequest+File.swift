import Glibc
import System

extension TransferRequest {
  /// Reads the file, with the limits and digests of any transfer, into the destination if there is one.
  /// - Parameter isCancelled: Asked before each piece is read.
  func readFile(
    _ configuration: TransferConfiguration, isCancelled: () -> Bool
  ) throws(TransferError) -> TransferOutcome {
    func checkCancelled() throws(TransferError) { if isCancelled() { throw .cancelled(location) } }
    let started = ContinuousClock.now
    guard let root = configuration.fileRoot else { throw TransferError(.schemeNotAllowed, location.fileNotAllowed) }
    try checkCancelled()
    let file = try FileRoot(path: root).open(location)
    let body = BodyWriter(self, maxBytes: configuration.maxBytes)
    try body.checkAnnounced(file.size)

    // A large allocation is mapped and unmapped each time, which takes longer than copying a small file.
    let size = min(max(file.size + 1, 4 << 10), 256 << 10)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
    defer { buffer.deallocate() }
    while true {
      try checkCancelled()
      let count = uninterrupted { read(file.descriptor, buffer.baseAddress, buffer.count) }
      guard count >= 0 else {
        let number = errno
        throw TransferError(
          .io, "cannot read \(location.redacted): \(systemMessage(number))", systemError: number, isOfSource: true)
      }
      if count == 0 { break }
      try body.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      // Nothing followed when it was read. A file whose size is not known, as in `/proc`, has the size 0.
      if count < buffer.count, body.bytes == file.size { break }
    }
    guard body.bytes >= file.size else {
      throw TransferError(.truncated, "\(location.redacted) had \(file.size) bytes and ended after \(body.bytes)")
    }
    let seconds = (ContinuousClock.now - started) / .seconds(1)
    return TransferOutcome(
      httpStatus: nil, validators: nil, mayBeStored: false, finalURL: location.redacted, bytes: body.bytes,
      received: body.bytes,
      sha256: try body.finish(), contentType: nil, requests: RequestCount(), seconds: seconds, answer: nil)
  }
}
