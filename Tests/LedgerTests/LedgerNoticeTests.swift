import Database
import TestSupport
import Testing

@testable import Ledger

@Suite struct LedgerNoticeTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("ledger.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private func notice(_ runID: String, _ kind: LedgerNotice.Kind = .notify, body: String = "{}") -> LedgerNotice {
    LedgerNotice(
      runID: runID, kind: kind, job: "j", state: "failed", report: "/r", body: kind == .notify ? body : nil)
  }

  private func accept(_ runs: String..., in ledger: Ledger) throws {
    try ledger.commit(runs.map { .accept(LedgerJob(runID: $0, name: $0, details: "")) })
  }

  @Test func `a notice is due once its run has ended, not before, also after a restart`() throws {
    do {
      let ledger = try Ledger(path: path)
      try accept("r", in: ledger)
      try ledger.commit([.advance("r", to: .finishing), .announce(notice("r")), .announce(notice("r", .exec))])
      try ledger.commit([.announce(notice("r", body: "new"))])
      #expect(try ledger.nextNotice(.notify) == nil && ledger.noticeCount(.notify) == 0)
    }
    do {
      let ledger = try Ledger(path: path)
      #expect(try ledger.nextNotice(.notify) == nil)
      try ledger.commit([.advance("r", to: .ended), .release("r", at: 5000)])
    }
    let ledger = try Ledger(path: path)
    var due = notice("r", body: "new")
    (due.ended, due.due) = (5000, 5000)
    #expect(try ledger.nextNotice(.notify) == due && ledger.noticeCount(.notify) == 1)
    #expect(try ledger.nextNotice(.exec)?.body == nil && ledger.noticeCount(.exec) == 1)
    try ledger.commit([.forget(.notice(run: "r", .notify))])
    #expect(try ledger.nextNotice(.notify) == nil && ledger.noticeCount(.exec) == 1)
  }

  @Test func `the one that is due first comes first, and another try changes the order`() throws {
    let ledger = try Ledger(path: path)
    try accept("a", "b", in: ledger)
    try ledger.commit([.announce(notice("a")), .announce(notice("b"))])
    try ledger.commit([.release("b", at: 1000), .release("a", at: 2000)])
    var first = try #require(try ledger.nextNotice(.notify))
    #expect(first.runID == "b")
    (first.attempts, first.due) = (1, 3000)
    try ledger.commit([.announce(first)])
    #expect(try ledger.nextNotice(.notify)?.runID == "a")
    try ledger.commit([.forget(.notice(run: "a", .notify))])
    #expect(try ledger.nextNotice(.notify) == first)
  }

  @Test func `a run that is removed before it has ended leaves none, and one that has ended leaves its own`() throws {
    let ledger = try Ledger(path: path)
    try accept("r", "s", in: ledger)
    try ledger.commit([.announce(notice("r")), .remove("r"), .release("r", at: 1)])
    #expect(try ledger.nextNotice(.notify) == nil)
    try ledger.commit([.announce(notice("s")), .advance("s", to: .ended), .release("s", at: 1)])
    try ledger.commit([.forget(.endedRun("s"))])
    #expect(try ledger.nextNotice(.notify)?.runID == "s")
  }

  @Test func `those that nothing processes are removed when they are old or their run is unknown`() throws {
    let ledger = try Ledger(path: path)
    try accept("live", "old", "new", in: ledger)
    for run in ["unknown", "live", "old", "new"] {
      try ledger.commit([.announce(notice(run)), .announce(notice(run, .exec))])
    }
    try ledger.commit([.release("old", at: 10), .release("new", at: 20)])
    try ledger.removeNotices(endedBefore: 15, except: [.exec])
    try ledger.commit([.release("live", at: 30), .release("unknown", at: 1)])
    #expect(try ledger.nextNotice(.notify)?.runID == "new" && ledger.noticeCount(.notify) == 2)
    #expect(try ledger.nextNotice(.exec)?.runID == "old" && ledger.noticeCount(.exec) == 3)
  }
}
