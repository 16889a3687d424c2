import Foundation
import TestSupport
import Testing

/// Runs the tests of a suite on threads of their own. Tests that wait for programs and servers block their thread, and
/// Swift's concurrency has only one thread for each processor: processors would be idle while tests wait for threads.
struct BlockingThreads: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(BlockingExecutor.shared) {
      let begin = ContinuousClock.now
      defer { Self.record(begin.duration(to: .now) / .seconds(1), of: test, testCase) }
      try await SpawnedProcess.$owner.withValue("\(test.sourceLocation.fileID): \(test.name)") { try await function() }
    }
  }

  /// Appends how long a test took, in seconds, to the file that `DARKROOM_TEST_TIMES` names: what the test run itself prints
  /// has the time that tests have waited for a thread in it.
  private static func record(_ seconds: Double, of test: Test, _ testCase: Test.Case?) {
    guard testCase != nil, let path = ProcessInfo.processInfo.environment["DARKROOM_TEST_TIMES"],
      let file = fopen(path, "a")
    else { return }
    fputs("\(seconds)  \(test.sourceLocation.fileID): \(test.name)\n", file)
    fclose(file)
  }
}

extension Trait where Self == BlockingThreads {
  static var blocking: BlockingThreads { BlockingThreads() }
}

/// Threads that run what is enqueued in its order: four for each processor, since tests of programs wait half of the time.
private final class BlockingExecutor: TaskExecutor, @unchecked Sendable {  // the condition protects the jobs
  static let shared = BlockingExecutor(threads: 4 * ProcessInfo.processInfo.activeProcessorCount)

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
