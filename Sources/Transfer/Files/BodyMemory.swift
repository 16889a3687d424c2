import Synchronization

/// The memory for small bodies, which needs no file from the transfer to the decoder. It is shared by all transfers.
package final class BodyMemory: Sendable {
  /// The size of the largest body that is kept in memory, in bytes. Larger ones would be copied more often than a file costs.
  package static let largest = 64 << 10

  private let free: Mutex<Int>

  /// - Parameter limit: The most bytes of all bodies. One whose size is not announced may take twice its size. Default: 16 MiB.
  package init(limit: Int = 16 << 20) { free = Mutex(limit) }

  /// Reserves memory.
  /// - Returns: Whether there was enough.
  func reserve(_ bytes: Int) -> Bool {
    free.withLock { free in
      guard bytes <= free else { return false }
      free -= bytes
      return true
    }
  }

  func release(_ bytes: Int) { free.withLock { $0 += bytes } }
}

/// A whole body in memory.
package final class BodyBytes: Sendable {
  package let bytes: [UInt8]
  private let reserved: Int
  private let memory: BodyMemory

  /// - Parameter reserved: What is reserved for the bytes in `memory`; it is released with the object.
  init(_ bytes: [UInt8], reserved: Int, in memory: BodyMemory) {
    (self.bytes, self.reserved, self.memory) = (bytes, reserved, memory)
  }

  deinit { memory.release(reserved) }
}
