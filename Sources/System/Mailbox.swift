import CLinux
import Glibc
import Synchronization

/// Messages from any thread to one thread that waits for them, and for other events, with `poll` or a library call that also
/// watches a descriptor (`eventfd`).
///
/// A post costs a system call only while the reader waits.
package final class Mailbox<Message: Sendable>: Sendable {
  private struct State {
    var messages: [Message] = []
    var isClosed = false

    /// Whether the next change must make the descriptor readable.
    var isReaderWaiting = false
  }

  private let state = Mutex(State())
  private let descriptor: Int32

  /// - Throws: `SystemError` when the process or the system has no descriptor left.
  package init() throws(SystemError) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    guard descriptor >= 0 else { throw SystemError("eventfd", "mailbox") }
  }

  deinit { Glibc.close(descriptor) }

  /// Adds a message.
  /// - Returns: `false` when the mailbox is closed: the message is dropped.
  @discardableResult
  package func post(_ message: Message) -> Bool {
    change { state in
      if !state.isClosed { state.messages.append(message) }
      return !state.isClosed
    }
  }

  /// Rejects messages from now on, and ends the reader's wait. Messages that were posted before can still be collected.
  package func close() { change { state in state.isClosed = true } }

  /// Whether the mailbox is closed. After that, `collect` returns the last messages.
  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Takes all messages, in the order of each thread's posts.
  package func collect() -> [Message] {
    state.withLock { state in
      state.isReaderWaiting = false
      let messages = state.messages
      state.messages = []
      return messages
    }
  }

  /// Waits until there is a message, the mailbox is closed, the other descriptor is readable, or the time is over.
  /// - Parameters:
  ///   - other: Another descriptor to wait for; none when -1.
  ///   - seconds: At most an hour; for ever when nil.
  package func wait(alongside other: Int32 = -1, seconds: Double? = nil) {
    let milliseconds = seconds.map { Int32(min(max(0, $0 * 1000).rounded(.up), 3_600_000)) } ?? -1
    wait { descriptor in
      var descriptors = [descriptor, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      poll(&descriptors, nfds_t(descriptors.count), milliseconds)
      return descriptors[0].revents != 0
    }
  }

  /// Waits with another function, which is not called when there is a message already.
  /// - Parameter watch: Gets a descriptor that becomes readable with the next message, and returns whether it is.
  package func wait(by watch: (_ descriptor: Int32) -> Bool) {
    let mayWait = state.withLock { state in
      state.isReaderWaiting = state.messages.isEmpty && !state.isClosed
      return state.isReaderWaiting
    }
    guard mayWait, watch(descriptor) else { return }
    var count: UInt64 = 0
    _ = read(descriptor, &count, 8)
  }

  @discardableResult
  private func change<T: Sendable>(_ body: (inout State) -> T) -> T {
    let (result, mustWake) = state.withLock { state in
      let result = body(&state)
      defer { state.isReaderWaiting = false }
      return (result, state.isReaderWaiting)
    }
    if mustWake { wake() }
    return result
  }

  /// Makes the descriptor readable. A reader that is not woken may wait for ever, so a failed write is repeated; `EAGAIN`
  /// means that it is readable already.
  private func wake() {
    var one: UInt64 = 1
    // Fails only under a tool that injects errors.
    for _ in 0..<100 where write(descriptor, &one, 8) == 8 || errno == EAGAIN { return }
  }
}
