import Testing

@testable import Model

@Suite struct FailureAcceptanceTests {
  private func accepts(
    _ acceptance: FailureAcceptance, failed: Int, of total: Int = 100, new: Int? = nil, cancelled: Int = 0,
    state: JobOutcome.State = .partial
  ) -> Bool {
    let counts = JobOutcome.Counts(
      total: total, filtered: total - failed - cancelled, failed: failed, cancelled: cancelled)
    let since = new.map { SinceLast(failedNew: $0, failedAgain: failed - $0) }
    return acceptance.accepts(state, counts, sinceLast: since)
  }

  @Test func `known are failures of a job that failed last time, too`() {
    #expect(accepts(.known, failed: 3, new: 0))
    #expect(!accepts(.known, failed: 3, new: 1))
    #expect(!accepts(.known, failed: 3), "of a first run nothing is known")
    #expect(accepts(.known, failed: 0))
    #expect(!accepts(.known, failed: 100, new: 0, state: .failed), "when nothing succeeded it is not the entries")
  }

  @Test(arguments: [(0, 0, true), (0, 1, false), (3, 3, true), (3, 4, false)])
  func `a number is the most rows that may fail`(limit: Int, failed: Int, isAccepted: Bool) {
    #expect(accepts(.rows(limit), failed: failed) == isAccepted)
    #expect(accepts(.rows(limit), failed: failed, new: failed) == isAccepted)
  }

  @Test(arguments: [
    (3.0, 3, 100, true), (3, 4, 100, false), (0, 1, 100, false), (0.5, 1, 200, true), (0.5, 1, 199, false),
    (100, 7, 7, true), (0, 0, 0, true),
  ])
  func `a share is that of all rows`(limit: Double, failed: Int, total: Int, isAccepted: Bool) {
    #expect(accepts(.percent(limit), failed: failed, of: total) == isAccepted)
  }

  @Test(arguments: [FailureAcceptance.known, .rows(100), .percent(100)])
  func `what was cancelled or rejected is never accepted`(acceptance: FailureAcceptance) {
    #expect(!accepts(acceptance, failed: 1, new: 0, cancelled: 1))
    #expect(!accepts(acceptance, failed: 0, of: 0, state: .rejected))
    #expect(accepts(acceptance, failed: 1, new: 0))
  }
}
