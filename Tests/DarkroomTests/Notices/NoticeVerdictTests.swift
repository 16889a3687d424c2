import Ledger
import Testing

@testable import Darkroom

@Suite struct NoticeVerdictTests {
  private static let day = 24 * 3600 * 1000

  private func notice(attempts: Int = 0, due: Int = 1000) -> LedgerNotice {
    var notice = LedgerNotice(runID: "r", kind: .notify, job: "j", state: "failed", report: "/r", body: "{}")
    (notice.attempts, notice.ended, notice.due) = (attempts, 1000, due)
    return notice
  }

  private func verdict(_ notice: LedgerNotice, _ outcome: NoticeOutcome, now: Int = 5000) -> NoticeVerdict {
    NoticeVerdict(notice, outcome, now: now)
  }

  @Test(
    arguments: [
      (0, nil, 1.0), (1, nil, 2), (2, nil, 4), (9, nil, 512), (10, nil, 600), (1000, nil, 600), (0, 30, 30), (5, 3, 32),
      (0, 1e9, 3600),
    ] as [(Int, Double?, Double)])
  func `a failure is tried again at growing intervals, not before the receiver asks for it`(
    attempts: Int, asked: Double?, seconds: Double
  ) {
    let next = notice(attempts: attempts + 1, due: 5000 + Int(seconds * 1000))
    let outcome = NoticeOutcome.failed("why", retryAfter: asked)
    #expect(verdict(notice(attempts: attempts), outcome) == .retry(next, why: "why", seconds: seconds))
  }

  @Test func `what succeeds is removed, what is rejected is given up, and what was broken off stays`() {
    #expect(verdict(notice(), .done) == .remove)
    #expect(verdict(notice(), .rejected("gone")) == .giveUp(why: "gone"))
    #expect(verdict(notice(), .stopped) == .leave)
  }

  @Test func `a day after the end of its run it is given up, after another try`() {
    let last = verdict(notice(attempts: 3), .failed("why"), now: 1000 + Self.day - 8000)
    #expect(last == .retry(notice(attempts: 4, due: 1000 + Self.day), why: "why", seconds: 8))
    let over = verdict(notice(attempts: 3), .failed("why"), now: 1001 + Self.day - 8000)
    #expect(over == .giveUp(why: "why, after 4 tries in 24 hours"))
    #expect(verdict(notice(), .done, now: 9 * Self.day) == .remove)
  }

  @Test(arguments: [(5000, 0.0), (4000, 1), (6000, 0), (-3_595_000, 3600), (-3_595_001, 0)] as [(Int, Double)])
  func `it is due at its time, and at once when the clock was set back`(now: Int, seconds: Double) {
    #expect(NoticeVerdict.wait(for: notice(due: 5000), now: now) == seconds)
  }
}
