import Scheduling
import Testing

@testable import Darkroom
@testable import Model

/// What becomes of failed entries with `--retry-for 1000` and `--retries 3`.
@Suite struct DeferralVerdictTests {
  private func verdict(
    _ disposition: EntryFailure.Disposition, attempts: Int = 4, code: FailureCode = .download(.connect),
    hasMirror: Bool = false, isStopping: Bool = false, refusals: Int = 0, seconds: Double = 1000, age: Int = 0,
    wasDeferred: Bool = false, hadRetryableMirrorFailure: Bool = false
  ) -> Verdict {
    var throttle = Throttle()
    let backoff = Backoff(retries: 3)
    for number in 0..<refusals { _ = throttle.refused(asked: 5, began: number, now: 0, backoff: backoff) }
    let entry = EndedEntry(
      state: .failed, failure: EntryFailure(code: code, message: "", disposition: disposition), attempts: attempts,
      hasMirror: hasMirror, throttle: throttle, age: age, wasDeferred: wasDeferred,
      hadRetryableMirrorFailure: hadRetryableMirrorFailure)
    return Verdict(
      on: entry, backoff: backoff, deferral: Deferral(seconds: seconds), isStopping: isStopping, now: 0)
  }

  private func isPostponed(_ verdict: Verdict) -> Bool {
    if case .postpone(let wait) = verdict { wait > 0 } else { false }
  }

  @Test func `an entry is deferred when its retries are used up, not before`() {
    #expect(verdict(.retry(after: 7), attempts: 3) == .retry(after: 7))
    #expect(isPostponed(verdict(.retry(after: 7), attempts: 4)))
    #expect(verdict(.hostRefused(after: 5), refusals: 3) == .retry(after: 5))
    #expect(isPostponed(verdict(.hostRefused(after: 5), refusals: 4)))
  }

  @Test func `an entry that was deferred is tried once each time`() {
    #expect(isPostponed(verdict(.retry(after: 7), attempts: 1, wasDeferred: true)))
    #expect(verdict(.retry(after: 7), attempts: 1, hasMirror: true, wasDeferred: true) == .useMirror)
  }

  @Test func `what is final is not deferred, unless another mirror may pass`() {
    #expect(verdict(.final) == .deliver)
    #expect(isPostponed(verdict(.final, hadRetryableMirrorFailure: true)))
    #expect(verdict(.retry(after: nil), hasMirror: true) == .useMirror)
    for code in [FailureCode.filter(.imageCorrupt), .io, .nameConflict] {
      #expect(verdict(.final, code: code, hadRetryableMirrorFailure: true) == .deliver)
    }
  }

  @Test func `an entry that is too old has failed`() {
    #expect(isPostponed(verdict(.retry(after: nil), age: 999_999)))
    #expect(verdict(.retry(after: nil), age: 1_000_000) == .deliver)
    #expect(verdict(.retry(after: 600), age: 500_000) == .deliver, "it may not be tried again in time")
    #expect(verdict(.retry(after: nil), seconds: 0) == .deliver)
  }

  @Test func `an entry that would have failed while the program stops is deferred`() {
    #expect(isPostponed(verdict(.retry(after: nil), isStopping: true)))
    #expect(verdict(.retry(after: nil), attempts: 1, isStopping: true) == .leave)
    #expect(verdict(.retry(after: nil), hasMirror: true, isStopping: true) == .leave)
  }
}
