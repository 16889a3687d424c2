import CJPEG

/// A file that libjpeg reads, from its beginning and without moving its offset. It must stay open while the object lives.
final class JPEGSource {
  /// The shim's descriptor of the source.
  let storage: UnsafeMutablePointer<cjpeg_source>
  private let buffer: UnsafeMutableBufferPointer<JOCTET>

  /// Creates a source on an open file, which must be seekable.
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

/// A file that libjpeg writes, from its offset on. It must stay open while the object lives.
final class JPEGDestination {
  /// The shim's descriptor of the destination.
  let storage: UnsafeMutablePointer<cjpeg_destination>
  private let buffer: UnsafeMutableBufferPointer<JOCTET>

  /// Creates a destination on an open file.
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
