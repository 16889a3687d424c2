import Testing

@testable import Darkroom

@Suite struct BackoffTests {
  private static func failure(
    _ status: Int? = nil, retryAfter: Double? = nil, isRetryable: Bool = true
  ) -> EntryFailure {
    EntryFailure(
      stage: .download, code: "", message: "", httpStatus: status, isRetryable: isRetryable, retryAfter: retryAfter)
  }

  @Test(arguments: [(1, 1.0), (2, 2), (3, 4), (6, 32), (7, 60), (100, 60)])
  func `the wait is drawn from a range that doubles from a second to a minute`(attempts: Int, limit: Double) throws {
    #expect(Backoff.limit(attempts: attempts) == limit)
    let waits = try (0..<200).map { _ in
      try #require(Backoff(retries: 100).delay(after: Self.failure(), attempts: attempts))
    }
    #expect(waits.allSatisfy { (0...limit).contains($0) })
    #expect(Set(waits).count > 1, "full jitter")
    #expect((waits.max() ?? 0) > limit / 2 && (waits.min() ?? 0) < limit / 2)
  }

  @Test func `there are so many tries after the first, and none for what will not pass`() {
    let backoff = Backoff(retries: 3)
    #expect(backoff.delay(after: Self.failure(), attempts: 3) != nil)
    #expect(backoff.delay(after: Self.failure(), attempts: 4) == nil)
    #expect(Backoff(retries: 0).delay(after: Self.failure(), attempts: 1) == nil)
    #expect(backoff.delay(after: Self.failure(404, isRetryable: false), attempts: 1) == nil)
  }

  @Test(arguments: [(0.0, 0.0), (2, 2), (600, 600), (86_400, 600)])
  func `a server that says when is asked then, ten minutes later at most`(asked: Double, wait: Double) {
    #expect(Backoff(retries: 3).delay(after: Self.failure(503, retryAfter: asked), attempts: 1) == wait)
  }

  @Test func `429, and 503 that says when, hold the host, others do not`() {
    let backoff = Backoff(retries: 3)
    #expect(backoff.hold(after: Self.failure(429, retryAfter: 7), attempts: 1) == 7)
    #expect(backoff.hold(after: Self.failure(503, retryAfter: 7), attempts: 9) == 7, "whoever asks is heard")
    #expect(backoff.hold(after: Self.failure(429), attempts: 1).map { (0...1).contains($0) } == true)
    #expect(backoff.hold(after: Self.failure(503), attempts: 1) == nil)
    #expect(backoff.hold(after: Self.failure(500, retryAfter: 7), attempts: 1) == nil)
    #expect(backoff.hold(after: Self.failure(), attempts: 1) == nil)
  }
}
