import CJPEG

/// A file that libjpeg writes, from its offset on. It stays open while the object lives.
final class JPEGDestination {
  /// What the shim writes to.
  let storage: UnsafeMutablePointer<cjpeg_destination>
  private let buffer: UnsafeMutableBufferPointer<JOCTET>

  /// A destination on an open file.
  init(_ descriptor: Int32) {
    buffer = .allocate(capacity: 64 << 10)
    storage = .allocate(capacity: 1)
    storage.initialize(to: cjpeg_destination())
    storage.pointee.descriptor = descriptor
    storage.pointee.buffer = buffer.baseAddress
    storage.pointee.capacity = buffer.count
  }

  deinit {
    storage.deallocate()
    buffer.deallocate()
  }
}
