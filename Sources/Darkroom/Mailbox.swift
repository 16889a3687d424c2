import CLinux
import Synchronization

/// Messages from any thread to one that waits for them and for other things (`eventfd`, `poll`).
final class Mailbox<Message: Sendable>: Sendable {
  private let messages = Mutex<[Message]>([])
  private let descriptor: Int32

  init() throws {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError("eventfd", "mailbox") }
  }

  deinit { close(descriptor) }

  func post(_ message: Message) {
    let wasEmpty = messages.withLock { messages in
      messages.append(message)
      return messages.count == 1
    }
    if wasEmpty { wake() }
  }

  /// All messages that have come, in order.
  func collect() -> [Message] {
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
    return messages.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }

  /// Waits until a message comes, another descriptor is readable, or the time is over.
  /// - Parameter seconds: For ever when nil.
  func wait(alongside other: Int32, seconds: Double?) {
    var descriptors = [descriptor, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let milliseconds = seconds.map { Int32(min(max(0, $0 * 1000).rounded(.up), 3_600_000)) } ?? -1
    poll(&descriptors, nfds_t(descriptors.count), milliseconds)
  }

  private func wake() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }
}
