import Scheduling
import Testing

@Suite struct BackoffTests {
  @Test(arguments: [(1, 1.0), (2, 2), (3, 4), (6, 32), (7, 60), (100, 60)])
  func `the wait is drawn from a range that doubles from a second to a minute`(attempts: Int, limit: Double) throws {
    #expect(Backoff.limit(attempts: attempts) == limit)
    let waits = try (0..<200).map { _ in
      try #require(Backoff(retries: 100).delay(attempts: attempts, asked: nil))
    }
    #expect(waits.allSatisfy { (0...limit).contains($0) })
    #expect(Set(waits).count > 1, "full jitter")
    #expect((waits.max() ?? 0) > limit / 2 && (waits.min() ?? 0) < limit / 2)
  }

  @Test(arguments: [nil, 7.0])
  func `there are so many tries after the first, whether or not the server says when`(asked: Double?) {
    let backoff = Backoff(retries: 3)
    #expect(backoff.delay(attempts: 3, asked: asked) != nil)
    #expect(backoff.delay(attempts: 4, asked: asked) == nil)
    #expect(Backoff(retries: 0).delay(attempts: 1, asked: asked) == nil)
  }

  @Test(arguments: [(0.0, 0.0), (2, 2), (600, 600), (86_400, 600)])
  func `a server that says when is asked then, ten minutes later at most`(asked: Double, wait: Double) {
    #expect(Backoff(retries: 3).delay(attempts: 1, asked: asked) == wait)
  }

  @Test(arguments: [(1, 1.0), (3, 4), (7, 60), (100, 60)])
  func `a host that does not say for how long is held for at least half of a range that doubles`(
    refusals: Int, limit: Double
  ) {
    let holds = (0..<200).map { _ in Backoff(retries: 100).hold(asked: nil, refusals: refusals) }
    #expect(holds.allSatisfy { (limit / 2...limit).contains($0) } && Set(holds).count > 1)
    #expect(Backoff(retries: 100).hold(asked: 7, refusals: refusals) == 7)
    #expect(Backoff(retries: 100).hold(asked: 7000, refusals: refusals) == 600)
  }

  @Test func `a host that never answers is not held longer than the retries of one entry would last`() {
    #expect((0..<200).allSatisfy { _ in Backoff(retries: 3).hold(asked: nil, refusals: 50) <= 8 })
  }
}
