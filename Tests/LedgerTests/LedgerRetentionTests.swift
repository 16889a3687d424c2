import Database
import Foundation
import TestSupport
import Testing

@testable import Ledger

@Suite struct LedgerRetentionTests {
  let folder: TemporaryFolder
  var path: String { folder.file("ledger.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private func deliver(_ target: String, identity: String?, position: Int = 0) -> LedgerChange {
    var delivery = Delivery(staged: "s", target: target, bytes: 1, sha256: "ab")
    delivery.identity = identity
    return .finish(LedgerEntry(position: position, delivery: delivery, row: "{}"), run: "r", job: "j")
  }

  @Test("an ended run leaves, but not while another of its job is live, and never a live one")
  func endedRuns() throws {
    let ledger = try Ledger(path: path)
    for (run, job) in [("1", "a"), ("2", "b"), ("3", "a")] {
      try ledger.commit([.accept(LedgerJob(runID: run, name: job, details: "d" + run))])
    }
    try ledger.commit([.advance("2", to: .ended), .advance("3", to: .ended)])
    #expect(try ledger.endedRunCount() == 2)
    let ended = try ledger.endedRuns(after: 0, limit: 9)
    #expect(ended.map(\.runID) == ["2", "3"] && ended.map(\.details) == ["d2", "d3"])
    #expect(try ledger.endedRuns(after: ended[0].sequence, limit: 9).map(\.runID) == ["3"])
    try ledger.commit(["1", "2", "3"].map { .forget(.endedRun($0)) })
    #expect(try ledger.liveJobs().map(\.runID) == ["1"])
    #expect(try ledger.endedRuns(after: 0, limit: 9).map(\.runID) == ["3"])
    let later = try ledger.laterRuns(than: "1", job: "a").map(\.runID)
    #expect(later == ["3"], "the older run must know that it is superseded")
    try ledger.commit([.advance("1", to: .ended), .forget(.endedRun("3")), .forget(.endedRun("1"))])
    #expect(try ledger.endedRunCount() == 0)
  }

  @Test("the record of an output leaves, unless another file was delivered in its place since")
  func outputs() throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    try ledger.commit([deliver("a", identity: "1"), deliver("b", identity: nil), deliver("c", identity: "3")])
    try ledger.commit([deliver("c", identity: "4")])
    try ledger.commit([
      .forget(.output(job: "j", target: "a", identity: "1")), .forget(.output(job: "j", target: "b", identity: nil)),
      .forget(.output(job: "j", target: "c", identity: "3")),
      .forget(.output(job: "other", target: "c", identity: "4")),
    ])
    #expect(try ledger.outputs(after: "", "", limit: 9).map(\.target) == ["c"])
  }

  @Test("outputs come in pages, in order, each once, whatever their jobs", arguments: [1, 3, 10, 100])
  func pages(limit: Int) throws {
    let ledger = try Ledger(path: path)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    for job in ["a", "b", "a-1"] {
      try ledger.commit(
        (0..<7).map { number in
          .finish(
            LedgerEntry(
              position: number, delivery: Delivery(staged: "s", target: "\(number)", bytes: 1, sha256: ""), row: "{}"),
            run: "r", job: job)
        })
    }
    var (found, last) = ([String](), ("", ""))
    while true {
      let page = try ledger.outputs(after: last.0, last.1, limit: limit)
      found += page.map { $0.job + $0.target }
      guard page.count == limit, let end = page.last else { break }
      last = (end.job, end.target)
    }
    #expect(found == ["a", "a-1", "b"].flatMap { job in (0..<7).map { "\(job)\($0)" } })
  }

  @Test("what failed in a job's last run leaves, but not while a run of the job is live, which compares itself")
  func lastRuns() throws {
    let ledger = try Ledger(path: path)
    let failure = LedgerFailure(name: "x", firstSeen: "2026", runs: 1, code: "dns")
    for (run, job) in [("1", "a"), ("2", "b")] {
      try ledger.commit([
        .accept(LedgerJob(runID: run, name: job, details: "")),
        .finish(LedgerEntry(position: 0, delivery: nil, failure: failure, row: "{}"), run: run, job: job),
        .remember(run, job: job), .advance(run, to: .ended),
      ])
    }
    #expect(try ledger.lastRuns(after: "", "", limit: 9).map(\.run) == ["1", "2"])
    try ledger.commit([.accept(LedgerJob(runID: "3", name: "b", details: ""))])
    try ledger.commit([
      .forget(.lastRun(job: "a", run: "1")), .forget(.lastRun(job: "b", run: "2")),
      .forget(.lastRun(job: "b", run: "1")),
    ])
    #expect(try ledger.lastRuns(after: "", "", limit: 9).map(\.job) == ["b"])
    #expect(try !ledger.hasFailures(run: "1"))
    #expect(try ledger.hasFailures(run: "2"))
  }

  private func fill(_ ledger: Ledger, rows: Int) throws {
    let row = String(repeating: "row ", count: 200)
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    try ledger.commit(
      (0..<rows).map { .finish(LedgerEntry(position: $0, delivery: nil, row: row), run: "r", job: "j") })
    try ledger.commit([.advance("r", to: .ended)])
  }

  @Test("of a run that ends so many entries leave at once, the others in parts; no run sees another's")
  func entries() throws {
    let ledger = try Ledger(path: path)
    let count = LedgerEntry.removedAtOnce + 1500
    for run in ["r", "other"] { try ledger.commit([.accept(LedgerJob(runID: run, name: run, details: ""))]) }
    let change = { (position: Int, run: String) -> LedgerChange in
      .finish(LedgerEntry(position: 2 * position, delivery: nil, row: ""), run: run, job: run)
    }
    try ledger.commit((0..<count).map { change($0, "r") } + [change(0, "other"), .advance("r", to: .ended)])
    func left(_ run: String) throws -> [Int] {
      var positions: [Int] = []
      try ledger.eachEndedPage(run: run) { positions += $0.map(\.position) }
      return positions
    }
    #expect(try left("r") == (LedgerEntry.removedAtOnce..<count).map { 2 * $0 })
    #expect(try ledger.removeEndedEntries(1000))
    #expect(try left("r").count == 500)
    #expect(try ledger.removeEndedEntries(1000))
    #expect(try !ledger.removeEndedEntries(1000))
    #expect(try left("r").isEmpty && left("other") == [0])
  }

  @Test(
    "an ended run stays while it has entries, also when another of its job is accepted, and leaves when it has none")
  func runsWithEntries() throws {
    let ledger = try Ledger(path: path)
    let count = LedgerEntry.removedAtOnce + 1
    func accept(_ run: String) throws {
      try ledger.commit([.accept(LedgerJob(runID: run, name: "j", details: ""))])
    }
    func runs() throws -> [String] { try ledger.endedRuns(after: 0, limit: 9).map(\.runID) }
    try accept("large")
    try ledger.commit(
      (0..<count).map { .finish(LedgerEntry(position: $0, delivery: nil, row: ""), run: "large", job: "j") }
        + [.advance("large", to: .ended)])
    try accept("2")
    try ledger.commit([.advance("2", to: .ended), .forget(.endedRun("large"))])
    #expect(try runs() == ["large", "2"], "otherwise all its entries leave in that commit")
    try accept("3")
    try ledger.commit([.advance("3", to: .ended)])
    #expect(try runs() == ["large", "2", "3"])
    #expect(try ledger.lastEnded(job: "j")?.runID == "3")
    #expect(try ledger.removeEndedEntries(1))
    #expect(try !ledger.removeEndedEntries(1))
    try accept("4")
    #expect(try runs() == ["3"])
  }

  @Test("what is free is given back to the file system, a part at a time")
  func shrinking() throws {
    let ledger = try Ledger(path: path)
    try fill(ledger, rows: 8000)
    let full = try ledger.pages()
    #expect(full.free > 500 && full.total > full.free)
    try ledger.release(pages: 100)
    let part = try ledger.pages()
    #expect(part.free == full.free - 100 && part.total <= full.total - 100)
    try ledger.release(pages: 1 << 20)
    let rest = try ledger.pages()
    #expect(rest.free == 0 && rest.total < 40)
    #expect(try ledger.check(bytes: 1) { false })
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).count == rest.total * rest.bytes)
    #expect(try ledger.lastEnded(job: "j")?.runID == "r")
  }

  @Test("a ledger of an earlier version is rewritten so that it can shrink")
  func rewritten() throws {
    do {
      let database = try Database(path: path, durability: .powerCut)
      try database.execute("PRAGMA page_size = 4096")
      for migration in LedgerSchema.migrations.scripts { try database.execute(migration) }
      try database.execute("PRAGMA user_version = \(LedgerSchema.migrations.newest)")
    }
    let ledger = try Ledger(path: path)
    try fill(ledger, rows: 2000)
    try ledger.release(pages: 1 << 20)
    #expect(try ledger.pages().free == 0)
    #expect(try ledger.pages().bytes == Database.pageBytes)
  }

  @Test("a ledger of an earlier version with smaller pages keeps them, and is used and shrinks as others do")
  func smallPages() throws {
    do {
      let database = try Database(path: path, durability: .powerCut)
      try database.execute("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")
      try LedgerSchema.migrations.apply(to: database)
    }
    let ledger = try Ledger(path: path)
    try fill(ledger, rows: 2000)
    let pages = try ledger.pages()
    #expect(pages.bytes == 4096 && pages.free > 100)
    try ledger.release(pages: 1 << 20)
    #expect(try ledger.pages().free == 0)
    #expect(try ledger.check(bytes: 1) { false })
  }
}
