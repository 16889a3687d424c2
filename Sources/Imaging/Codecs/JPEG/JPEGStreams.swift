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

/// A file that libjpeg writes, from its offset on, or memory. The file must stay open while the object lives.
final class JPEGDestination {
  /// The shim's descriptor of the destination.
  let storage: UnsafeMutablePointer<cjpeg_destination>
  private let buffer: UnsafeMutableBufferPointer<JOCTET>

  convenience init(_ descriptor: Int32) { self.init(descriptor, capacity: 64 << 10) }

  /// Creates a destination in memory.
  /// - Parameter limit: Encoding a picture of more bytes fails.
  convenience init(inMemory limit: Int) { self.init(-1, capacity: limit) }

  private init(_ descriptor: Int32, capacity: Int) {
    buffer = .allocate(capacity: capacity)
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

  /// The contents of the buffer: for a destination in memory, the picture once it is complete.
  var contents: [UInt8] { Array(buffer.prefix(buffer.count - storage.pointee.manager.free_in_buffer)) }
}
