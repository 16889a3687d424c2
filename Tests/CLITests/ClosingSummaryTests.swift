import Imaging
import Testing
import Transfer

@testable import Darkroom
@testable import DarkroomCLI
@testable import Model

/// What `run` says at its end.
@Suite struct ClosingSummaryTests {
  private static func failure(
    _ job: String, _ name: String, _ code: String, status: Int? = nil, isRetryable: Bool = false,
    runs: Int? = nil, stage: String = "download"
  ) -> Event {
    var failure = ReportRow.Failure(
      stage: stage, code: code, message: "\(name) is not there", httpStatus: status,
      isRetryable: isRetryable)
    failure.runs = runs
    let row = ReportRow(
      index: 0, name: name, url: "http://h/", finalURL: nil, state: .failed, isReused: false, isCoalesced: false,
      priority: "normal", attempts: 1, output: nil, source: nil, filters: "none", timings: .init(), failure: failure,
      metadata: nil)
    return .entryEnded(job: job, row: row, deferred: 0)
  }

  private static func end(
    _ job: String, _ state: JobOutcome.State = .succeeded, accepted: Bool = false, bottlenecks: [Bottleneck] = []
  ) -> Event {
    .jobEnded(
      JobSummary(
        job: job, state: state, counts: .init(), sinceLast: nil, isAccepted: accepted, transfers: Transfers(),
        bottlenecks: bottlenecks, problems: [], report: "outbox/\(job)/report.json", seconds: 1))
  }

  private static func lines(
    _ events: [Event], folders: [String] = [], isForPerson: Bool = true, hasExamples: Bool = true,
    existing: [String] = []
  ) -> [String] {
    var summary = ClosingSummary()
    for event in events { summary.add(event) }
    return summary.lines(folders: folders, isForPerson: isForPerson, hasExamples: hasExamples, in: "/work") { path in
      existing.contains(path)
    }.map(\.text)
  }

  private static let failed = [
    failure("cats", "a", "dns", isRetryable: true), failure("cats", "b", "http-status", status: 404),
    failure("it's", "c", "http-status", status: 404),
    failure("it's", "d", "http-status", status: 503, isRetryable: true),
    end("cats", .partial), end("it's", .failed), end("fine"),
  ]

  @Test func `failures are grouped by code, the most frequent first, with an example and the remedy`() {
    let lines = Self.lines(
      Self.failed, folders: ["--inbox", "/srv/my in"],
      existing: ["outbox/cats/images", "outbox/cats/index.html", "outbox/fine/images"])
    #expect(
      lines == [
        "2 failed with http-status (404), such as cats: b: b is not there",
        "  remedy: the picture is not there: correct the URL, or remove the entry",
        "1 failed with dns: cats: a: a is not there",
        "  remedy: " + (FailureCode(text: "dns")?.explanation.plainRemedy ?? ""),
        "1 failed with http-status (503): it's: d: d is not there",
        "  remedy: the server wants fewer requests: retry later, or --per-host 1",
        "to try again: darkroom retry --inbox '/srv/my in' cats",
        #"to try again: darkroom retry --inbox '/srv/my in' 'it'\''s'"#,
        "cats: results in outbox/cats/images, gallery outbox/cats/index.html", "fine: results in outbox/fine/images",
      ])
  }

  @Test func `failures that earlier processes found count, and are examples`() {
    var earlier = FailureCounts()
    if case .entryEnded(_, let row, _) = Self.failure("k", "gone", "http-status", status: 404) { earlier.add(row) }
    func end(_ job: String) -> Event {
      guard case .jobEnded(var summary) = Self.end(job, .partial) else { return Self.end(job) }
      summary.earlierFailures = earlier
      return .jobEnded(summary)
    }
    #expect(
      Self.lines([end("k")]) == [
        "1 failed with http-status (404): k: gone: gone is not there",
        "  remedy: the picture is not there: correct the URL, or remove the entry",
      ], "and retry cannot help")
    let now = Self.failure("k", "x", "http-status", status: 404)
    #expect(Self.lines([now, end("k")])[0].hasPrefix("2 failed with http-status (404), such as k: x"))
    let passing = Self.failure("k", "x", "timeout", isRetryable: true)
    #expect(Self.lines([passing, end("k")]).last == "to try again: darkroom retry k")
  }

  @Test(arguments: [
    ("u\u{308}", "'u\u{308}'"), ("\u{fc}", "'\u{fc}'"), ("a-b_1.c", "a-b_1.c"), ("'\u{301}", "''\\''\u{301}'"),
    ("", "''"),
  ])
  func `a word is quoted for the shell by its bytes`(word: String, quoted: String) {
    #expect(Array(word.shellQuoted.utf8) == Array(quoted.utf8))
  }

  @Test func `elsewhere than on a terminal each code has one line, and nothing is said when all is well`() {
    let lines = Self.lines(Self.failed, isForPerson: false)
    #expect(lines.count == 5 && lines[0].contains("such as cats: b: b is not there; remedy: "), "\(lines)")
    let short = Self.lines(Self.failed, isForPerson: false, hasExamples: false)
    #expect(short[0].hasPrefix("remedy for http-status (404): "), "\(short)")
    #expect(Self.lines([Self.end("fine")], isForPerson: false) == [])
    let accepted = [Self.failure("cats", "a", "dns"), Self.end("cats", .partial, accepted: true)]
    #expect(Self.lines(accepted, isForPerson: false) == [], "what is accepted is well")
  }

  @Test func `a new failure is the example, and not one that is known`() {
    let events = [
      Self.failure("cats", "old", "dns", runs: 3), Self.failure("cats", "new", "dns"),
      Self.failure("cats", "newer", "dns"), Self.end("cats", .failed),
    ]
    let lines = Self.lines(events)
    #expect(lines.contains { $0.hasPrefix("3 failed with dns, such as cats: new: ") }, "\(lines)")
  }

  @Test(arguments: [0.19, 0.2]) func `what bounded a run is told, unless that was for a small share`(share: Double) {
    let disk = Bottleneck(.disk, share: share)
    let lines = Self.lines([Self.end("a", bottlenecks: [disk])])
    #expect(lines.contains("a: \(disk)") == (share >= ClosingSummary.leastShare), "\(lines)")
  }

  @Test func `a picture that cannot be filtered is named with its URL, as one that is not downloaded is`() {
    let event = Self.failure("cats", "a", "not-an-image", stage: "filter")
    let lines = Self.lines([event, Self.end("cats", .failed)])
    #expect(lines.contains("1 failed with not-an-image: cats: a: http://h/: a is not there"), "\(lines)")
    var log = EventLog(verbosity: .normal, hasReportPaths: false)
    #expect(log.lines(for: event).map(\.message) == ["http://h/: a is not there"])
  }

  @Test(arguments: [
    (0, "h has asked to wait, and the time is over: 429"), (0.1, "h is on hold for 0.1 s: 429"),
    (300, "h is on hold for 300.0 s: 429"),
  ])
  func `a wait that is over is told so`(seconds: Double, line: String) {
    var log = EventLog(verbosity: .normal, hasReportPaths: false)
    #expect(log.lines(for: .host("h", .held(seconds: seconds, why: "429"))).map(\.message) == [line])
  }

  @Test func `a job is not tried again as it is when that cannot help`() {
    let lasting = ["not-an-image", "address-not-allowed"].map { Self.failure("a", $0, $0) } + [Self.end("a", .failed)]
    #expect(!Self.lines(lasting).contains { $0.contains("retry ") })
    let other = [Self.failure("a", "x", "timeout", isRetryable: true)] + lasting
    #expect(Self.lines(other).contains("to try again: darkroom retry a"))
  }

  @Test func `a rejected manifest is not tried again as it is`() {
    let lines = Self.lines([Self.end("a", .rejected)])
    #expect(!lines.contains { $0.contains("retry") }, "\(lines)")
  }

  @Test func `of many jobs and codes a few are listed`() {
    var events: [Event] = []
    for (place, code) in FailureCode.all.enumerated() {
      events += [Self.failure("j\(place)", "a", code.text, isRetryable: true), Self.end("j\(place)", .failed)]
    }
    let lines = Self.lines(events)
    #expect(lines.count <= 2 * ClosingSummary.maxCodes + 1 + ClosingSummary.maxJobs + 1, "\(lines)")
    #expect(
      lines.contains { $0.hasPrefix("and ") } && lines.last?.contains("each of \(FailureCode.all.count) jobs") == true)
  }

  @Test func `the remedies for pictures fit files as well, and whichever limit was exceeded`() {
    let remedies = FailureCode.all.filter { $0.stage == .filter }.map { $0.remedy(httpStatus: nil) }
    #expect(!remedies.isEmpty && !remedies.contains { $0.contains("browser") || $0.contains("--max-pixels") })
  }

  @Test func `every code has a remedy of its own line, which names only options that there are`() throws {
    let statuses = [301, 401, 403, 404, 408, 410, 418, 429, 500, 503, 599]
    let ofStatuses = statuses.map {
      (FailureCode.download(.httpStatus), FailureCode.download(.httpStatus).remedy(httpStatus: $0))
    }
    for (code, remedy) in FailureCode.all.map({ ($0, $0.explanation.plainRemedy) }) + ofStatuses {
      #expect(remedy.count > 4 && remedy.count < 120 && !remedy.contains("\n"), "\(code.text): \(remedy)")
      for option in remedy.matches(of: /--([a-z-]+)/) {
        #expect(OptionTable.option(named: String(option.1)) != nil, "\(code.text): \(remedy)")
      }
    }
  }
}
