import Dispatch
import Foundation
import Synchronization

/// A thread that starts processes, until it is released. To the kernel, the parent of a process is the thread that started it:
/// processes that end with their parent (`PR_SET_PDEATHSIG`) end with the thread, not with the program, and threads of a
/// queue come and go.
package final class SpawnThread: Sendable {
  private final class Work: Sendable {
    private let waiting = Mutex<[@Sendable () -> Void]>([])
    private let added = DispatchSemaphore(value: 0)

    /// - Parameter work: nil to end the thread.
    func add(_ work: (@Sendable () -> Void)?) {
      if let work { waiting.withLock { $0.append(work) } }
      added.signal()
    }

    func run() {
      while true {
        added.wait()
        guard let next = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return }
        next()
      }
    }
  }

  private let work = Work()

  package init() {
    let thread = Thread { [work] in work.run() }
    thread.name = "Starts of processes"
    thread.start()
  }

  deinit { work.add(nil) }

  private final class Answer<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
    let given = DispatchSemaphore(value: 0)
  }

  /// Calls a function on the thread, and waits for its result.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
    let answer = Answer<Value>()
    work.add {
      let value = body()
      answer.value.withLock { $0 = value }
      answer.given.signal()
    }
    answer.given.wait()
    // Set before the signal.
    return answer.value.withLock { $0.unsafelyUnwrapped }
  }
}
