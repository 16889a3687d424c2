extension UnsafeMutablePointer {
  /// Allocates memory from the start of a cache line, so that no vector is in two.
  static func allocateCacheLines(capacity: Int) -> Self {
    UnsafeMutableRawPointer.allocate(byteCount: capacity * MemoryLayout<Pointee>.stride, alignment: 64)
      .bindMemory(to: Pointee.self, capacity: capacity)
  }
}
