import Foundation
import Synchronization
import Testing

/// Runs the tests of a suite on threads of their own, some at once. Tests that wait for programs and servers block their
/// thread, and Swift's concurrency has only one thread for each processor: processors would be idle while tests wait for
/// threads.
///
/// What the runner does around these tests has a thread of its own, too: tests that only compute occupy Swift's threads for
/// minutes, and without it none of these tests would begin before those have ended, and then leave processors idle.
package struct BlockingThreads: SuiteTrait, TestTrait, TestScoping {
  package let isRecursive = true

  /// Itself for suites and tests as well as their cases. Swift Testing's default is the cases only.
  package func scopeProvider(for test: Test, testCase: Test.Case?) -> BlockingThreads? { self }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else {
      return try await withTaskExecutorPreference(BlockingExecutor.runner) { try await function() }
    }
    await TestSlots.shared.acquire()
    defer { TestSlots.shared.release() }
    try await withTaskExecutorPreference(BlockingExecutor.shared) {
      let name = TestTimes.current
      let begin = ContinuousClock.now
      let watchdog = Self.endIfHanging(name)
      defer {
        watchdog.cancel()
        TestTimes.record(wall: begin.duration(to: .now) / .seconds(1), of: name)
      }
      try await function()
    }
  }

  /// Ends the test run if a test has not ended long after it should: a thread that waits cannot be ended alone, and a time
  /// limit of Swift Testing, which cancels tasks, does nothing to it.
  private static func endIfHanging(_ test: String) -> DispatchWorkItem {
    let isSlow = Sanitizer.isAny || Sample.isAll
    let minutes = isSlow ? 30 : 10
    let end = DispatchWorkItem {
      FileHandle.standardError.write(Data("✘ Test \(test) has not ended after \(minutes) minutes: it hangs\n".utf8))
      SpawnedProcess.killAll()
      TemporaryFolder.removeAll()
      exit(EXIT_FAILURE)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(60 * minutes), execute: end)
    return end
  }
}

extension Trait where Self == BlockingThreads {
  package static var blocking: BlockingThreads { BlockingThreads() }
}

/// Lets so many tests run at once, in the order in which they came. Swift Testing begins all at once: whenever something that
/// a test has awaited is there, it would wait for a thread behind all others, and its limits of time would pass meanwhile.
private final class TestSlots: Sendable {
  /// Six for each processor, since tests of programs mostly wait.
  static let count = 6 * ProcessInfo.processInfo.activeProcessorCount
  static let shared = TestSlots()

  private struct State {
    var free = TestSlots.count
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func acquire() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free == 0 {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  func release() {
    let next = state.withLock { state in
      if state.waiting.isEmpty {
        state.free += 1
        return nil as CheckedContinuation<Void, Never>?
      }
      return state.waiting.removeFirst()
    }
    next?.resume()
  }
}

/// Threads that run what is enqueued in its order: two for each slot, since a test may block one and wait for its tasks.
private final class BlockingExecutor: TaskExecutor, @unchecked Sendable {  // the condition protects the jobs
  static let shared = BlockingExecutor(threads: 2 * TestSlots.count)

  /// For the runner, which never waits.
  static let runner = BlockingExecutor(threads: 1)

  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []

  private init(threads: Int) {
    for _ in 0..<threads {
      Thread.detachNewThread { [self] in
        while true { next().runSynchronously(on: asUnownedTaskExecutor()) }
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock {
      jobs.append(job)
      condition.signal()
    }
  }

  private func next() -> UnownedJob {
    condition.withLock {
      while jobs.isEmpty { condition.wait() }
      return jobs.removeFirst()
    }
  }
}
