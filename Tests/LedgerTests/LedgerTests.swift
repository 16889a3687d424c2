import Database
import TestSupport
import Testing

@testable import Ledger

@Suite struct LedgerTests {
  let folder: TemporaryFolder
  var path: String { folder.file("ledger.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private static let delivery = Delivery(staged: "r-1.result", target: "images/a.jpg", bytes: 12, sha256: "ab")

  @Test("what was recorded is there after the ledger was opened again")
  func survivesReopening() throws {
    let job = LedgerJob(runID: "r", name: "holiday", details: "{}")
    let intended = LedgerEntry(position: 1, delivery: Self.delivery, row: #"{"index":1}"#)
    let ended = LedgerEntry(
      position: 0, delivery: Delivery(staged: "r-0.result", target: "images/b.jpg", bytes: 3, sha256: "cd"), row: "{}")
    let failed = LedgerEntry(position: 2, delivery: nil, row: "{}")
    let pause = LedgerPause(cause: "lock", lock: "a.lock", reason: "backup", began: 1000, ended: 2000)
    do {
      let ledger = try Ledger(path: path)
      try ledger.commit([.accept(job)])
      try ledger.commit([.advance("r", to: .running)])
      try ledger.commit([.intend(intended, run: "r")])
      try ledger.commit([ended, failed].map { .finish($0, run: "r", job: "holiday") })
      try ledger.commit([.pause(pause, run: "r")])
      try ledger.commit([.advance("r", to: .finishing, outcome: #"{"state":"partial"}"#)])
    }
    let ledger = try Ledger(path: path)
    var expected = job
    expected.state = .finishing
    expected.outcome = #"{"state":"partial"}"#
    #expect(try ledger.liveJobs() == [expected])
    #expect(try ledger.intended(run: "r") == [intended])
    #expect(try endedPages(ledger, "r").flatMap { $0 } == [ended, failed].map(withoutDelivery))
    #expect(try ledger.output(job: "holiday", target: "images/b.jpg")?.sha256 == "cd")
    #expect(try ledger.output(job: "holiday", target: "images/a.jpg") == nil, "an intent is no output")
    #expect(try ledger.output(job: "other", target: "images/b.jpg") == nil)
    #expect(try ledger.pauses(run: "r") == [pause])
  }

  @Test("of an output its origin and identity are kept, and may be renewed")
  func outputs() throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    #expect(try !ledger.hasOutputs(job: "j"))
    var delivery = Delivery(staged: "s", target: "images/a.jpg", bytes: 1, sha256: "ab", origin: "o")
    try ledger.commit([.intend(LedgerEntry(position: 0, delivery: delivery, row: "{}"), run: "r")])
    #expect(try ledger.intended(run: "r").first?.delivery == delivery)
    delivery.identity = "i"
    try ledger.commit([.finish(LedgerEntry(position: 0, delivery: delivery, row: "{}"), run: "r", job: "j")])
    let output = try ledger.output(job: "j", target: "images/a.jpg")
    #expect(
      output
        == LedgerOutput(
          target: "images/a.jpg", bytes: 1, sha256: "ab", origin: "o", identity: "i"))
    for (identity, origin, known) in [("k", nil, ("k", "o")), (nil, "p", ("k", "p"))] {
      let refreshed = LedgerEntry.Refreshed(target: "images/a.jpg", identity: identity, origin: origin)
      try ledger.commit([
        .finish(LedgerEntry(position: 0, delivery: nil, refreshed: refreshed, row: "{}"), run: "r", job: "j")
      ])
      #expect(
        try ledger.output(job: "j", target: "images/a.jpg")
          == LedgerOutput(target: "images/a.jpg", bytes: 1, sha256: "ab", origin: known.1, identity: known.0))
    }
    #expect(LedgerEntry.Refreshed(target: "images/a.jpg") == nil)
    #expect(try ledger.hasOutputs(job: "j"))
    #expect(try !ledger.hasOutputs(job: "other"))
  }

  @Test("live jobs come in the order of their acceptance, whatever their names")
  func order() throws {
    let ledger = try Ledger(path: path)
    for name in ["z", "a", "m"] {
      try ledger.commit([.accept(LedgerJob(runID: "run-" + name, name: name, details: ""))])
    }
    try ledger.commit([.advance("run-a", to: .ended)])
    #expect(try ledger.liveJobs().map(\.name) == ["z", "m"])
  }

  /// As the ledger has an entry that has ended.
  private func withoutDelivery(_ entry: LedgerEntry) -> LedgerEntry {
    var entry = entry
    entry.delivery = nil
    return entry
  }

  @Test("a pause of a run that was removed is not recorded, and nothing fails for it")
  func pauseOfRemovedRun() throws {
    let ledger = try Ledger(path: path)
    let pause = LedgerPause(cause: "lock", lock: "a.lock", reason: nil, began: 1, ended: nil)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    try ledger.commit([.remove("r"), .pause(pause, run: "r")])
    #expect(try ledger.liveJobs().isEmpty && ledger.pauses(run: "r").isEmpty)
  }

  @Test("an intent that is finished is an intent no more")
  func intentBecomesDone() throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    let entry = LedgerEntry(position: 7, delivery: Self.delivery, row: "{}")
    try ledger.commit([.intend(entry, run: "r")])
    try ledger.commit([.finish(entry, run: "r", job: "j")])
    #expect(try ledger.intended(run: "r").isEmpty)
    #expect(try endedPages(ledger, "r") == [[withoutDelivery(entry)]], "what was delivered is an output now")
  }

  @Test(
    "ended entries come in pages, in the manifest's order, each once", arguments: [0, 1, 511, 512, 513, 1024, 1500])
  func pages(count: Int) throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    try ledger.commit([.accept(LedgerJob(runID: "s", name: "k", details: ""))])
    let entries = (0..<count).map { LedgerEntry(position: $0 * 3, delivery: nil, row: "\($0)") }
    try ledger.commit(entries.shuffled().map { .finish($0, run: "r", job: "j") })
    try ledger.commit([.finish(LedgerEntry(position: 1, delivery: nil, row: "other"), run: "s", job: "k")])
    try ledger.commit([.intend(LedgerEntry(position: 2, delivery: Self.delivery, row: "open"), run: "r")])
    let pages = try endedPages(ledger, "r")
    #expect(pages.flatMap { $0 } == entries)
    #expect(pages.allSatisfy { 1...512 ~= $0.count })
  }

  @Test("an ended job keeps no entries and no pauses; what it delivered stays known")
  func endedForgets() throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: "d"))])
    try ledger.commit([.finish(LedgerEntry(position: 0, delivery: Self.delivery, row: "{}"), run: "r", job: "j")])
    try ledger.commit([.pause(LedgerPause(cause: "disk", lock: "", reason: nil, began: 5), run: "r")])
    try ledger.commit([.advance("r", to: .finishing, outcome: "o")])
    try ledger.commit([.advance("r", to: .ended)])
    #expect(try endedPages(ledger, "r").isEmpty)
    #expect(try ledger.pauses(run: "r").isEmpty)
    #expect(try ledger.output(job: "j", target: "images/a.jpg")?.bytes == 12)
    #expect(
      try ledger.lastEnded(job: "j") == LedgerJob(runID: "r", name: "j", state: .ended, details: "d", outcome: "o"))
  }

  @Test("of a job's runs the last that ended is remembered, and never none while a new one is live")
  func lastEnded() throws {
    let ledger = try Ledger(path: path)
    #expect(try ledger.lastEnded(job: "j") == nil)
    for run in ["1", "2", "3"] {
      try ledger.commit([.accept(LedgerJob(runID: run, name: "j", details: ""))])
      #expect(try ledger.lastEnded(job: "j")?.runID == (Int(run).map { $0 - 1 }.flatMap { $0 == 0 ? nil : "\($0)" }))
      try ledger.commit([.advance(run, to: .ended)])
    }
    try ledger.commit([.accept(LedgerJob(runID: "4", name: "other", details: ""))])
    #expect(try ledger.lastEnded(job: "j")?.runID == "3")
    #expect(try ledger.liveJobs().map(\.runID) == ["4"])
  }

  @Test("jobs stay in the order of their acceptance, over restarts, commits that fail and jobs that ended")
  func orderOfAcceptance() throws {
    for runs in [["c", "z"], ["a"], ["m", "b"]] {
      let ledger = try Ledger(path: path)
      try ledger.commit(runs.map { .accept(LedgerJob(runID: $0, name: $0, details: "")) })
      #expect(throws: SQLiteError.self) {
        try ledger.commit(["n", "c"].map { .accept(LedgerJob(runID: $0, name: $0, details: "")) })
      }
    }
    let ledger = try Ledger(path: path)
    #expect(try ledger.liveJobs().map(\.name) == ["c", "z", "a", "m", "b"])
    try ledger.commit([.advance("b", to: .ended), .advance("c", to: .ended)])
    try ledger.commit([.accept(LedgerJob(runID: "d", name: "d", details: ""))])
    #expect(try ledger.liveJobs().map(\.name) == ["z", "a", "m", "d"])
  }

  @Test("a pause that ends is the same pause; one of another lock or time is not")
  func pauses() throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    let open = LedgerPause(cause: "lock", lock: "a.lock", reason: nil, began: 10)
    var closed = open
    closed.ended = 20
    let others = [
      LedgerPause(cause: "lock", lock: "a.lock", reason: "again", began: 30, ended: nil),
      LedgerPause(cause: "lock", lock: "b.lock", reason: nil, began: 10, ended: 15),
      LedgerPause(cause: "disk", lock: "", reason: "full", began: 5, ended: 40),
    ]
    for pause in [open] + others + [closed] { try ledger.commit([.pause(pause, run: "r")]) }
    #expect(try ledger.pauses(run: "r") == [others[2], closed, others[1], others[0]])
  }

  @Test(
    "every text comes back as it was",
    arguments: [
      "", " ", "NUL\u{0}inside", "\u{0}", "\u{1}\u{7}\u{1b}[0m\u{7f}", "line\r\nline", "'; DROP TABLE jobs; --", "👩‍👩‍👧‍👦",
      "e\u{301}", "\u{e9}", "\u{feff}bom", String(repeating: "1 MB ", count: 200_000),
    ])
  func texts(text: String) throws {
    let delivery = Delivery(staged: text, target: "t" + text, bytes: .max, sha256: text)
    let entry = LedgerEntry(position: .max, delivery: delivery, row: text)
    let pause = LedgerPause(cause: text, lock: text, reason: text, began: .min, ended: .max)
    do {
      let ledger = try Ledger(path: path)
      try ledger.commit([.accept(LedgerJob(runID: text, name: text, details: text))])
      try ledger.commit([.advance(text, to: .running, outcome: text)])
      try ledger.commit([.finish(entry, run: text, job: text)])
      try ledger.commit([.intend(LedgerEntry(position: 0, delivery: delivery, row: text), run: text)])
      try ledger.commit([.pause(pause, run: text)])
    }
    let ledger = try Ledger(path: path)
    let job = try #require(try ledger.liveJobs().first)
    for found in [job.runID, job.name, job.details, job.outcome ?? "none"] {
      #expect(found.utf8.elementsEqual(text.utf8))
    }
    let found = try #require(try endedPages(ledger, text).first?.first)
    #expect(found.row.utf8.elementsEqual(text.utf8))
    #expect(found == withoutDelivery(entry))
    let intended = try #require(try ledger.intended(run: text).first?.delivery)
    #expect(intended == delivery && intended.target.utf8.elementsEqual(delivery.target.utf8))
    #expect(try ledger.pauses(run: text) == [pause])
    #expect(try ledger.output(job: text, target: delivery.target)?.bytes == .max)
  }

  @Test("names that differ only in their normal form are different jobs")
  func normalForms() throws {
    let ledger = try Ledger(path: path)
    for (run, name) in [("1", "e\u{301}"), ("2", "\u{e9}")] {
      try ledger.commit([.accept(LedgerJob(runID: run, name: name, details: ""))])
      try ledger.commit([.advance(run, to: .ended)])
    }
    #expect(try ledger.lastEnded(job: "e\u{301}")?.runID == "1")
    #expect(try ledger.lastEnded(job: "\u{e9}")?.runID == "2")
  }

  @Test("a change that fails changes nothing")
  func atomic() throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: "first"))])
    #expect(throws: SQLiteError.self) {
      try ledger.commit([.accept(LedgerJob(runID: "r", name: "k", details: "second"))])
    }
    let entry = LedgerEntry(position: 0, delivery: Self.delivery, row: "{}")
    #expect(throws: SQLiteError.self) { try ledger.commit([.finish(entry, run: "unknown", job: "j")]) }
    #expect(try ledger.liveJobs().map(\.details) == ["first"])
    #expect(try ledger.output(job: "j", target: "images/a.jpg") == nil)
    try ledger.commit([.finish(entry, run: "r", job: "j")])
  }

  @Test("changes that are committed together are made in their order, all or none")
  func together() throws {
    let ledger = try Ledger(path: path)
    let failed = LedgerEntry(position: 0, delivery: nil, row: "{}")
    try ledger.commit([])
    try ledger.commit([
      .accept(LedgerJob(runID: "r", name: "j", details: "")), .intend(failed, run: "r"),
      .finish(failed, run: "r", job: "j"), .advance("r", to: .finishing, outcome: "o"),
      .accept(LedgerJob(runID: "s", name: "k", details: "")), .advance("s", to: .running),
    ])
    #expect(try ledger.liveJobs().map(\.state) == [.finishing, .running])
    #expect(try ledger.intended(run: "r").isEmpty)
    #expect(throws: SQLiteError.self) {
      try ledger.commit([
        .advance("s", to: .ended), .finish(failed, run: "s", job: "k"),
        .accept(LedgerJob(runID: "r", name: "j", details: "")),
      ])
    }
    #expect(try ledger.liveJobs().map(\.state) == [.finishing, .running])
    #expect(try endedPages(ledger, "s").isEmpty)
  }

  @Test(
    "what a job delivered comes in pages, each path once, and other jobs' is not among it", arguments: [0, 1, 512, 700])
  func outputPages(count: Int) throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    let entries = (0..<count).map { number in
      LedgerEntry(
        position: number, delivery: Delivery(staged: "s", target: "images/\(number).jpg", bytes: number, sha256: "ab"),
        row: "{}")
    }
    try ledger.commit(entries.shuffled().map { .finish($0, run: "r", job: "j") })
    try ledger.commit(entries.prefix(3).map { .finish($0, run: "r", job: "other") })
    var pages: [[LedgerOutput]] = []
    try ledger.eachOutputPage(job: "j") { page in
      pages.append(page)
      _ = try ledger.hasOutputs(job: "j")  // others use the ledger in between
    }
    #expect(
      pages.flatMap { $0 }.sorted { $0.bytes < $1.bytes }.map(\.target) == entries.compactMap { $0.delivery?.target })
    #expect(pages.allSatisfy { 1...512 ~= $0.count })
  }

  @Test("threads take turns")
  func threads() async throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<10 {
            let entry = LedgerEntry(position: task * 10 + number, delivery: nil, row: "\(task) \(number)")
            try ledger.commit([.finish(entry, run: "r", job: "j")])
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try endedPages(ledger, "r").flatMap { $0 }.map(\.position) == Array(0..<40))
  }

  private func endedPages(_ ledger: Ledger, _ run: String) throws -> [[LedgerEntry]] {
    var pages: [[LedgerEntry]] = []
    try ledger.eachEndedPage(run: run) { pages.append($0) }
    return pages
  }
}
