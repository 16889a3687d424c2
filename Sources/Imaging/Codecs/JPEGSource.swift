import CJPEG

/// A file that libjpeg reads, from its beginning and without moving its offset. It stays open while the object lives.
final class JPEGSource {
  /// What the shim reads from.
  let storage: UnsafeMutablePointer<cjpeg_source>
  private let buffer: UnsafeMutableBufferPointer<JOCTET>

  /// A source on an open file, which must be seekable.
  init(_ descriptor: Int32) {
    buffer = .allocate(capacity: 64 << 10)
    storage = .allocate(capacity: 1)
    storage.initialize(to: cjpeg_source())
    storage.pointee.descriptor = descriptor
    storage.pointee.buffer = buffer.baseAddress
    storage.pointee.capacity = buffer.count
  }

  deinit {
    storage.deallocate()
    buffer.deallocate()
  }
}
