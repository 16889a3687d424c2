import Dispatch
import Synchronization
import System

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

  /// The work of the thread; nil until it is started.
  private let work = Mutex<Work?>(nil)

  private let start: Start

  /// Starts a thread.
  typealias Start = @Sendable (_ body: @escaping @Sendable () -> Void) throws(SystemError) -> Void

  package convenience init() {
    self.init { body throws(SystemError) in try NativeThread("the thread that starts workers", body).detach() }
  }

  init(start: @escaping Start) { self.start = start }

  deinit { work.withLock { $0?.add(nil) } }

  private final class Answer<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil)
    let given = DispatchSemaphore(value: 0)
  }

  /// Calls a function on the thread, which the first call starts, and waits for its result.
  /// - Throws: `SystemError` when the system cannot create the thread now. The next call tries it again.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws(SystemError) -> Value {
    let answer = Answer<Value>()
    try startedWork().add {
      let value = body()
      answer.value.withLock { $0 = value }
      answer.given.signal()
    }
    answer.given.wait()
    // Set before the signal.
    return answer.value.withLock { $0.unsafelyUnwrapped }
  }

  private func startedWork() throws(SystemError) -> Work {
    try work.withLock { work throws(SystemError) in
      if let work { return work }
      let new = Work()
      try start { new.run() }
      work = new
      return new
    }
  }
}
