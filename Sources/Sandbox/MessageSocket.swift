import CSandbox
import Glibc
import Synchronization
import System

/// One end of a pair of sockets that preserve message boundaries (`SOCK_SEQPACKET`), closed when released.
package final class MessageSocket: Sendable {
  package let descriptor: Int32
  private let isOpen = Atomic(true)

  package static let maxBytes = 128 << 10

  /// The descriptor of a worker's end.
  package static let inWorker = MessageSocket(descriptor: CSANDBOX_SOCKET)

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { close() }

  func close() {
    if isOpen.exchange(false, ordering: .relaxed) { Glibc.close(descriptor) }
  }

  /// The result of an attempt to receive a message.
  package enum Received: Equatable {
    case message([UInt8])
    /// The other end is closed: its process has ended.
    case closed
    /// Nothing came in time.
    case nothing
  }

  /// Creates a pair.
  /// - Parameter wait: How long the first end waits for a message at most, in milliseconds.
  static func pair(wait: Int) throws(SystemError) -> (MessageSocket, MessageSocket) {
    var descriptors: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &descriptors) == 0 else { throw SystemError("socketpair", "worker") }
    let ends = (MessageSocket(descriptor: descriptors[0]), MessageSocket(descriptor: descriptors[1]))
    var time = timeval(tv_sec: wait / 1000, tv_usec: wait % 1000 * 1000)
    let size = socklen_t(MemoryLayout<timeval>.size)
    guard setsockopt(descriptors[0], SOL_SOCKET, SO_RCVTIMEO, &time, size) == 0,
      setsockopt(descriptors[0], SOL_SOCKET, SO_SNDTIMEO, &time, size) == 0
    else { throw SystemError("setsockopt", "worker") }
    return ends
  }

  /// Whether there is nothing to read, not even the end.
  package var isQuiet: Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return uninterrupted { poll(&state, 1, 0) } == 0
  }

  /// Sends a message, with two descriptors at most.
  /// - Returns: Whether the other end exists and accepts it.
  package func send(_ bytes: [UInt8], descriptors: [Int32] = []) -> Bool {
    uninterrupted { csandbox_send(descriptor, bytes, bytes.count, descriptors, Int32(descriptors.count)) } >= 0
  }

  /// Waits for a message. Descriptors that it carries are dropped by the kernel.
  /// - Parameter limit: A longer message is cut off, and so invalid.
  package func receive(limit: Int) -> Received {
    var length = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      length = uninterrupted { recv(descriptor, buffer.baseAddress, limit, 0) }
      count = max(0, length)
    }
    if length > 0 { return .message(bytes) }
    return length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? .nothing : .closed
  }

  /// Waits for a message with its descriptors, which the caller then owns; nil when the other end is closed.
  package func receiveWithDescriptors() -> (bytes: [UInt8], descriptors: [Int32])? {
    var (length, number) = (0, Int32(0))
    var descriptors = [Int32](repeating: -1, count: Int(CSANDBOX_MAX_DESCRIPTORS))
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.maxBytes) { buffer, count in
      length = uninterrupted {
        csandbox_receive(descriptor, buffer.baseAddress, Self.maxBytes, &descriptors, &number)
      }
      count = max(0, length)
    }
    return length > 0 ? (bytes, Array(descriptors.prefix(Int(number)))) : nil
  }

  /// Writes a message by `write(2)`, which a confined process may still call.
  package func write(_ bytes: [UInt8]) -> Bool { uninterrupted { Glibc.write(descriptor, bytes, bytes.count) } >= 0 }
}
