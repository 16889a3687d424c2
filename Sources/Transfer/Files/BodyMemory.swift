import Synchronization

/// The memory for bodies: small ones need no file from the transfer to the decoder, and those that are a little larger are written to
/// their files when they are complete, by another thread. It is shared by all transfers.
package final class BodyMemory: Sendable {
  /// The size of the largest body that stays in memory, in bytes. Larger ones would be copied more often than a file costs.
  package static let largest = 64 << 10

  /// The size of the largest body that is in memory while it arrives, in bytes.
  package static let largestArriving = 256 << 10

  private let free: Mutex<Int>

  /// Buffers for bodies that do not stay: new ones of their size would be mapped and cleared by the kernel each time.
  private let spare = Mutex<[[UInt8]]>([])

  /// The most buffers that wait for a body.
  private static let maxSpare = 32

  /// - Parameter limit: The most bytes of all bodies. A small one whose size is not announced may take twice its size. Default:
  ///   16 MiB.
  package init(limit: Int = 16 << 20) { free = Mutex(limit) }

  /// The size of the buffer for a body, which is what must be reserved for it.
  static func capacity(for bytes: Int) -> Int { bytes > largest ? largestArriving : bytes }

  /// An empty buffer for a body.
  func buffer(for bytes: Int) -> [UInt8] {
    var buffer = bytes > Self.largest ? spare.withLock { $0.popLast() } ?? [] : []
    buffer.reserveCapacity(Self.capacity(for: bytes))
    return buffer
  }

  /// Takes a buffer back.
  func takeBack(_ buffer: consuming [UInt8]) {
    guard Self.largestArriving..<(2 * Self.largestArriving) ~= buffer.capacity else { return }
    var emptied = consume buffer
    emptied.removeAll(keepingCapacity: true)
    spare.withLock { [emptied] in if $0.count < Self.maxSpare { $0.append(emptied) } }
  }

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
