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

  @Test func `429, and 503 that says when, are the host's refusal, others are not`() {
    #expect(Self.failure(429, retryAfter: 7).isRefusal)
    #expect(Self.failure(429).isRefusal)
    #expect(Self.failure(503, retryAfter: 7).isRefusal)
    #expect(!Self.failure(503).isRefusal)
    #expect(!Self.failure(500, retryAfter: 7).isRefusal)
    #expect(!Self.failure().isRefusal)
  }

  @Test(arguments: [(1, 1.0), (3, 4), (7, 60), (100, 60)])
  func `a host that does not say for how long is left alone for at least half of a range that doubles`(
    refusals: Int, limit: Double
  ) {
    let holds = (0..<200).map { _ in Backoff(retries: 100).hold(asked: nil, refusals: refusals) }
    #expect(holds.allSatisfy { (limit / 2...limit).contains($0) } && Set(holds).count > 1)
    #expect(Backoff(retries: 100).hold(asked: 7, refusals: refusals) == 7)
    #expect(Backoff(retries: 100).hold(asked: 7000, refusals: refusals) == 600)
  }

  @Test func `a host that never answers is not left alone longer than the retries of one entry would last`() {
    #expect((0..<200).allSatisfy { _ in Backoff(retries: 3).hold(asked: nil, refusals: 50) <= 8 })
  }
}
