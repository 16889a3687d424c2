import Foundation
import Testing

/// Runs the tests of a suite on threads of their own. Tests that wait for programs and servers block their thread, and
/// Swift's concurrency has only one thread for each processor: processors would be idle while tests wait for threads.
struct BlockingThreads: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(BlockingExecutor.shared) { try await function() }
  }
}

extension Trait where Self == BlockingThreads {
  static var blocking: BlockingThreads { BlockingThreads() }
}

/// Threads that run what is enqueued in its order: two for each processor.
private final class BlockingExecutor: TaskExecutor, @unchecked Sendable {  // the condition protects the jobs
  static let shared = BlockingExecutor(threads: 2 * ProcessInfo.processInfo.activeProcessorCount)

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
