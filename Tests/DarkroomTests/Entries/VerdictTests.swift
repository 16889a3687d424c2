import Scheduling
import Testing

@testable import Darkroom
@testable import Model

@Suite struct VerdictTests {
  private typealias Disposition = EntryFailure.Disposition

  /// A throttle that was refused so often, and is held until 5000 ms.
  private static func throttle(refusals: Int) -> Throttle {
    var throttle = Throttle()
    for number in 0..<refusals {
      _ = throttle.refused(asked: 5, began: number, now: 0, backoff: Backoff(retries: 3))
    }
    return throttle
  }

  private static func verdict(
    _ disposition: EntryFailure.Disposition?, attempts: Int = 1, hasMirror: Bool = false, isStopping: Bool = false,
    refusals: Int = 0, code: FailureCode = .download(.connect), state: PhotoRecord.State = .failed, now: Int = 0
  ) -> Verdict {
    let failure = disposition.map { EntryFailure(code: code, message: "", disposition: $0) }
    let entry = EndedEntry(
      state: state, failure: failure, attempts: attempts, hasMirror: hasMirror, throttle: throttle(refusals: refusals))
    return Verdict(on: entry, backoff: Backoff(retries: 3), isStopping: isStopping, now: now)
  }

  /// The verdict on an entry that its host, which has refused others so often in a row, refuses again.
  private static func refused(_ refusals: Int, inRow: Int, asked: Double?, deferral: Double = 0, age: Int = 0)
    -> Verdict
  {
    let failure = EntryFailure(code: .download(.httpStatus), message: "", disposition: .hostRefused(after: asked))
    var entry = EndedEntry(
      state: .failed, failure: failure, attempts: 1, hasMirror: false, throttle: throttle(refusals: inRow))
    (entry.refusals, entry.age) = (refusals, age)
    return Verdict(
      on: entry, backoff: Backoff(retries: 3), deferral: Deferral(seconds: deferral), isStopping: false, now: 0)
  }

  @Test(
    arguments: [
      (3, 1, 5.0, false), (4, 1, 5, true), (4, 3, 5, true), (3, 3, 5, false), (4, 1, nil, false), (15, 1, nil, false),
      (16, 1, nil, true),
    ] as [(Int, Int, Double?, Bool)])
  func `what is refused again and again while its host serves others is given up`(
    refusals: Int, inRow: Int, asked: Double?, isGivenUp: Bool
  ) {
    #expect(Self.refused(refusals, inRow: inRow, asked: asked) == (isGivenUp ? .deliver : .retry(after: 5)))
  }

  @Test(arguments: [(0.0, 0, true), (60, 0, true), (60, 54_999, true), (60, 55_001, false), (4, 0, false)])
  func `no retry waits for longer than --retry-for lasts`(seconds: Double, age: Int, isRetried: Bool) {
    #expect(
      Self.refused(1, inRow: 1, asked: 5, deferral: seconds, age: age) == (isRetried ? .retry(after: 5) : .deliver))
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let disposition: EntryFailure.Disposition?
    var attempts = 1
    var hasMirror = false
    var isStopping = false
    var refusals = 0
    var state = PhotoRecord.State.failed
    let expected: Verdict

    var testDescription: String { "\(self)" }
  }

  private static let cases: [Case] = [
    // What succeeded, and what was cancelled.
    Case(disposition: nil, state: .filtered, expected: .deliver),
    Case(disposition: nil, isStopping: true, state: .filtered, expected: .deliver),
    Case(disposition: nil, state: .cancelled, expected: .deliver),
    Case(disposition: nil, isStopping: true, state: .cancelled, expected: .leave),
    // What did not begin.
    Case(disposition: nil, state: .new, expected: .restart),
    Case(disposition: nil, isStopping: true, state: .new, expected: .leave),
    // The same would fail again.
    Case(disposition: .final, expected: .deliver),
    Case(disposition: .final, isStopping: true, expected: .deliver),
    Case(disposition: .final, hasMirror: true, expected: .useMirror),
    Case(disposition: .final, hasMirror: true, isStopping: true, expected: .leave),
    // It may succeed later; the server says when.
    Case(disposition: .retry(after: 7), attempts: 1, expected: .retry(after: 7)),
    Case(disposition: .retry(after: 7), attempts: 3, expected: .retry(after: 7)),
    Case(disposition: .retry(after: 7000), attempts: 1, expected: .retry(after: 600)),
    Case(disposition: .retry(after: 7), attempts: 1, hasMirror: true, expected: .retry(after: 7)),
    Case(disposition: .retry(after: 7), attempts: 4, expected: .deliver),
    Case(disposition: .retry(after: 7), attempts: 4, hasMirror: true, expected: .useMirror),
    Case(disposition: .retry(after: 7), attempts: 1, isStopping: true, expected: .leave),
    Case(disposition: .retry(after: 7), attempts: 4, isStopping: true, expected: .deliver),
    Case(disposition: .retry(after: 7), attempts: 4, hasMirror: true, isStopping: true, expected: .leave),
    // The host's affair: only its refusals in a row count, not the tries of the entry.
    Case(disposition: .hostRefused(after: 5), attempts: 99, refusals: 1, expected: .retry(after: 5)),
    Case(disposition: .hostRefused(after: nil), attempts: 99, refusals: 3, expected: .retry(after: 5)),
    Case(disposition: .hostRefused(after: 5), refusals: 4, expected: .deliver),
    Case(disposition: .hostRefused(after: 5), hasMirror: true, refusals: 4, expected: .useMirror),
    Case(disposition: .hostRefused(after: 5), isStopping: true, refusals: 1, expected: .leave),
    Case(disposition: .hostRefused(after: 5), isStopping: true, refusals: 4, expected: .deliver),
    Case(disposition: .hostRefused(after: 5), hasMirror: true, isStopping: true, refusals: 4, expected: .leave),
    // Nothing of the entry's doing, and no reason to stop.
    Case(disposition: .waitForSpace, attempts: 99, hasMirror: true, expected: .waitForSpace),
    Case(disposition: .waitForSpace, isStopping: true, expected: .waitForSpace),
    Case(disposition: .waitForMachine, attempts: 99, hasMirror: true, expected: .waitForMachine),
    Case(disposition: .waitForMachine, isStopping: true, expected: .waitForMachine),
    Case(disposition: .restart, attempts: 99, hasMirror: true, expected: .restart),
    Case(disposition: .restart, isStopping: true, expected: .restart),
  ]

  @Test(arguments: cases)
  func `what becomes of an entry follows from its failure, tries, mirrors, host and the end of the program`(
    _ test: Case
  ) {
    let found = Self.verdict(
      test.disposition, attempts: test.attempts, hasMirror: test.hasMirror, isStopping: test.isStopping,
      refusals: test.refusals, state: test.state)
    #expect(found == test.expected)
  }

  /// An entry with `--retry-for 1000` and `--retries 3`, whose download failed.
  private static func verdict(
    at host: EndedEntry.HostState, isStopping: Bool = false, _ change: (inout EndedEntry) -> Void = { _ in }
  ) -> Verdict {
    var entry = EndedEntry(
      state: .failed,
      failure: EntryFailure(code: .download(.connect), message: "", disposition: .retry(after: 7)), attempts: 4,
      hasMirror: false, throttle: Throttle())
    entry.host = host
    change(&entry)
    return Verdict(
      on: entry, backoff: Backoff(retries: 3), deferral: Deferral(seconds: 1000), isStopping: isStopping, now: 0)
  }

  /// Why an entry is given up, or deferred.
  private static let reasons: [@Sendable (inout EndedEntry) -> Void] = [
    { _ in },
    { $0.wasDeferred = true },
    { ($0.attempts, $0.timeLeft) = (1, 0) },
    { ($0.attempts, $0.timeLeft) = (1, -5) },
    { ($0.hasMirror, $0.isMirrorOpen) = (true, false) },
    { $0.age = 1_000_000 },
  ]

  @Test(arguments: reasons.indices)
  func `an entry of a closed host waits, whatever would be the last of its tries`(reason: Int) {
    let change = Self.reasons[reason]
    #expect(Self.verdict(at: .closed, change) == .hold)
    #expect(Self.verdict(at: .closed, isStopping: true, change) == .leave)
    #expect(![.hold, .leave].contains(Self.verdict(at: .open, change)))
  }

  @Test func `an entry of a closed host goes to a mirror at an open one`() {
    #expect(Self.verdict(at: .closed) { $0.hasMirror = true } == .useMirror)
  }

  @Test(arguments: [Disposition.retry(after: nil), .retry(after: 5), .hostRefused(after: 5)])
  func `a request that may not be repeated has neither retries nor deferrals`(disposition: EntryFailure.Disposition) {
    let failure = EntryFailure(code: .download(.httpStatus), message: "", disposition: disposition)
    let entry = EndedEntry(
      state: .failed, failure: failure, attempts: 1, hasMirror: false, throttle: Throttle(), mayRepeat: false)
    let verdict = Verdict(
      on: entry, backoff: Backoff(retries: 3), deferral: Deferral(seconds: 3600), isStopping: false, now: 0)
    #expect(verdict == .deliver)
  }

  @Test func `an entry of a host that was given up has no more tries there`() {
    #expect(Self.verdict(at: .open) { $0.attempts = 1 } == .retry(after: 7))
    #expect(Self.verdict(at: .givenUp) { ($0.attempts, $0.hasMirror) = (1, true) } == .useMirror)
    guard case .postpone = Self.verdict(at: .givenUp, { $0.attempts = 1 }) else {
      Issue.record("it is not deferred")
      return
    }
  }

  @Test(arguments: [FailureCode.filter(.imageCorrupt), .io, .nameConflict])
  func `another mirror is no help against what failed after the download`(code: FailureCode) {
    #expect(Self.verdict(.final, hasMirror: true, code: code) == .deliver)
  }

  @Test func `the wait for a host is what is left of its hold`() {
    #expect(Self.verdict(.hostRefused(after: 5), refusals: 1, now: 4000) == .retry(after: 1))
    #expect(Self.verdict(.hostRefused(after: 5), refusals: 1, now: 9000) == .retry(after: 0))
  }

  @Test func `a wait that no server asked for is drawn from the range of the backoff`() {
    for attempts in 1...3 {
      guard case .retry(let seconds) = Self.verdict(.retry(after: nil), attempts: attempts) else {
        Issue.record("it is not tried again")
        continue
      }
      #expect((0...Backoff.limit(attempts: attempts)).contains(seconds))
    }
    #expect(Self.verdict(.retry(after: nil), attempts: 4) == .deliver)
  }
}
