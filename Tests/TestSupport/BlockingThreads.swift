import Foundation
import Testing

/// Runs the tests of a suite on threads of their own. Tests that wait for programs and servers block their thread, and
/// Swift's concurrency has only one thread for each processor: processors would be idle while tests wait for threads.
package struct BlockingThreads: SuiteTrait, TestTrait, TestScoping {
  package let isRecursive = true

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(BlockingExecutor.shared) {
      guard testCase != nil else { return try await function() }
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
      exit(EXIT_FAILURE)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(60 * minutes), execute: end)
    return end
  }
}

extension Trait where Self == BlockingThreads {
  package static var blocking: BlockingThreads { BlockingThreads() }
}

/// Threads that run what is enqueued in its order: six for each processor, since tests of programs mostly wait.
private final class BlockingExecutor: TaskExecutor, @unchecked Sendable {  // the condition protects the jobs
  static let shared = BlockingExecutor(threads: 6 * ProcessInfo.processInfo.activeProcessorCount)

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
