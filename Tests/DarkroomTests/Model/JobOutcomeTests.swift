import JSON
import Testing

@testable import Model

@Suite struct JobOutcomeTests {
  private static func outcome(finished: Int, elapsed: Int?) -> JobOutcome {
    JobOutcome(
      state: .succeeded, counts: .init(), bytes: .init(), transfers: Transfers(), problems: [], finished: finished,
      elapsed: elapsed.map { RunTime.Elapsed(total: $0, paused: 0) })
  }

  @Test(
    arguments: [
      (61_000, 60_003, 60_000), (61_000, 59_990, 60_000), (61_000, nil, 60_000), (86_401_000, 86_360_000, 86_400_000),
      // The clock was set, ahead and back.
      (3_661_000, 60_003, 60_003), (-3_599_000, 60_003, 60_003), (-500, 1000, 1000), (500, 1000, 0),
    ] as [(Int, Int?, Int)])
  func `a run takes as long as its report shows, unless the clock was set`(
    finished: Int, elapsed: Int?, expected: Int
  ) {
    #expect(Self.outcome(finished: finished, elapsed: elapsed).duration(since: 1000) == expected)
  }

  @Test(
    arguments: [
      (61_000, 60_003, 61_000), (-3_599_000, 60_003, 61_003), (-500, 1000, 2000), (500, 1000, 1000), (500, nil, 1000),
      (3_661_000, 60_003, 3_661_000),
    ] as [(Int, Int?, Int)])
  func `no run ends before it began`(finished: Int, elapsed: Int?, expected: Int) {
    #expect(Self.outcome(finished: finished, elapsed: elapsed).finished(since: 1000) == expected)
  }

  @Test func `no millisecond of a time is lost`() {
    for number in 0..<1000 {
      let text = JSONValue.time(1_700_000_000_000 + number).string ?? ""
      #expect(text.hasSuffix("." + String(String(1000 + number).dropFirst()) + "Z"), "\(text)")
    }
  }
}
