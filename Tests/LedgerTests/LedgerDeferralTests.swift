import Database
import TestSupport
import Testing

@testable import Ledger

@Suite struct LedgerDeferralTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("ledger.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private func deferral(_ position: Int, attempts: Int = 1) -> LedgerDeferral {
    LedgerDeferral(position: position, attempts: attempts, due: 2000 + position, wait: 500, firstTried: 1000)
  }

  private func deferrals(_ ledger: Ledger, _ runID: String = "r") throws -> [LedgerDeferral] {
    var all: [LedgerDeferral] = []
    try ledger.eachDeferralPage(run: runID) { all += $0 }
    return all
  }

  @Test func `deferrals survive a restart, the last of an entry counts, and each run has its own`() throws {
    do {
      let ledger = try Ledger(path: path)
      try ledger.commit(["r", "s"].map { .accept(LedgerJob(runID: $0, name: $0, details: "")) })
      try ledger.commit([.postpone(deferral(3), run: "r"), .postpone(deferral(1), run: "r")])
      try ledger.commit([.postpone(deferral(3, attempts: 2), run: "r"), .postpone(deferral(9), run: "s")])
    }
    let read = try LedgerReader.deferred(path: path)
    #expect(read.mapValues(\.count) == ["r": 2, "s": 1] && read["r"]?.due == 2001)
    let ledger = try Ledger(path: path)
    #expect(try deferrals(ledger) == [deferral(1), deferral(3, attempts: 2)])
    #expect(try deferrals(ledger, "s") == [deferral(9)])
  }

  @Test func `what an entry came to ends its deferral, and so does the end of its job`() throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    try ledger.commit((0..<4).map { .postpone(deferral($0), run: "r") })
    let delivery = Delivery(staged: "s", target: "images/a.jpg", bytes: 1, sha256: "ab")
    try ledger.commit([
      .finish(LedgerEntry(position: 0, delivery: nil, row: "{}"), run: "r", job: "j"),
      .intend(LedgerEntry(position: 2, delivery: delivery, row: "{}"), run: "r"),
    ])
    #expect(try deferrals(ledger).map(\.position) == [1, 3])
    try ledger.commit([.advance("r", to: .ended)])
    #expect(try deferrals(ledger).isEmpty)
  }

  @Test func `new details of a job are what the next start reads, and end what was deferred to find them out`() throws {
    do {
      let ledger = try Ledger(path: path)
      try ledger.commit(["r", "s"].map { .accept(LedgerJob(runID: $0, name: $0, details: "old")) })
      try ledger.commit([.postpone(deferral(0), run: "r"), .postpone(deferral(0), run: "s")])
      try ledger.commit([.describe("r", details: "new"), .describe("gone", details: "x")])
      try ledger.commit([.note("s", details: "noted")])
    }
    let ledger = try Ledger(path: path)
    #expect(try ledger.liveJobs().map(\.details) == ["new", "noted"])
    #expect(try deferrals(ledger).isEmpty)
    #expect(try deferrals(ledger, "s").count == 1)
    #expect(try ledger.liveJobs().map(\.state) == [.accepted, .accepted])
  }

  @Test func `more than a page of them comes in order`() throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    try ledger.commit((0..<1300).reversed().map { .postpone(deferral($0), run: "r") })
    #expect(try deferrals(ledger).map(\.position) == Array(0..<1300))
  }

  @Test func `a ledger of version 2 is brought to this one, and keeps what it has`() throws {
    do {
      let database = try Database(path: path, durability: .powerCut)
      for migration in LedgerSchema.migrations.scripts[..<2] { try database.execute(migration) }
      try database.execute(
        """
        INSERT INTO jobs VALUES ('r', 'j', 'running', '{}', NULL, 1);
        INSERT INTO entries VALUES ('r', 0, 1, NULL, NULL, NULL, NULL, '{}', NULL);
        PRAGMA user_version = 2
        """)
    }
    #expect(try LedgerReader.deferred(path: path).isEmpty)
    let ledger = try Ledger(path: path)
    #expect(try ledger.liveJobs().map(\.runID) == ["r"])
    try ledger.commit([.postpone(deferral(0), run: "r"), .postpone(deferral(1), run: "r")])
    #expect(try deferrals(ledger).map(\.position) == [1])
  }
}
