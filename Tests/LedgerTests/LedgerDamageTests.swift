import Database
import Foundation
import TestSupport
import Testing

@testable import Ledger

/// 8 random bytes are written somewhere into the file of a ledger with jobs in all states.
@Suite struct LedgerDamageTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("ledger.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  /// Everything that can be read of a ledger.
  private struct Contents: Equatable {
    var jobs: [LedgerJob] = []
    var entries: [LedgerEntry] = []
    var intents: [LedgerEntry] = []
    var deferrals: [LedgerDeferral] = []
    var pauses: [LedgerPause] = []
    var outputs: [LedgerOutput] = []
    var failures: [LedgerFailure] = []
    var lastRuns: [String] = []
    var names: [LedgerNames] = []
    var notices: [LedgerNotice] = []

    init(_ ledger: Ledger) throws {
      jobs = try ledger.liveJobs()
      for name in ["live-0", "live-1", "ended"] {
        try ledger.eachOutputPage(job: name) { outputs += $0 }
        jobs += [try ledger.lastEnded(job: name)].compactMap { $0 }
        if let named = try ledger.namedRun(for: "", job: name) {
          try ledger.eachNamesPage(of: named) { names.append($0) }
        }
        guard let last = try ledger.lastRun(job: name) else { continue }
        lastRuns.append(last)
        try ledger.eachFailurePage(run: last) { failures += $0 }
      }
      notices = try LedgerNotice.Kind.allCases.compactMap(ledger.nextNotice)
      for run in ["run-0", "run-1"] {
        try ledger.eachEndedPage(run: run) { entries += $0 }
        intents += try ledger.intended(run: run)
        try ledger.eachDeferralPage(run: run) { deferrals += $0 }
        pauses += try ledger.pauses(run: run)
      }
    }
  }

  private static func entry(_ position: Int, of job: String) -> LedgerEntry {
    let name = "images/\(job)-\(position).jpg"
    let delivery = Delivery(
      staged: "\(position).result", target: name, bytes: 1000 + position,
      sha256: String(repeating: "\(position % 10)", count: 64), origin: #"{"product":"\(position)"}"#)
    return LedgerEntry(
      position: position, delivery: delivery, row: #"{"index":\#(position),"name":"\#(name)","state":"filtered"}"#)
  }

  private func fill(_ count: Int = 60) throws {
    let ledger = try Ledger(path: path)
    var changes = [LedgerChange.accept(LedgerJob(runID: "run-e", name: "ended", details: "{}"))]
    for position in 0..<count {
      let failure = LedgerFailure(name: "f\(position)", firstSeen: "2026-01-01T00:00:00.000Z", runs: 1, code: "dns")
      let failed = LedgerEntry(position: 1000 + position, delivery: nil, failure: failure, row: "{}")
      changes += [
        .finish(Self.entry(position, of: "ended"), run: "run-e", job: "ended"),
        .finish(failed, run: "run-e", job: "ended"),
      ]
    }
    try ledger.commit(changes)
    let notice = LedgerNotice(
      runID: "run-e", kind: .notify, job: "ended", state: "partial", report: "/out/ended/report.json", body: "{}")
    try ledger.commit([
      .announce(notice), .remember("run-e", job: "ended"), .advance("run-e", to: .ended), .release("run-e", at: 5),
    ])
    for job in 0..<2 {
      let run = "run-\(job)"
      let pause = LedgerPause(cause: "lock", lock: "a", reason: nil, began: 5)
      let details = #"{"file":"live-\#(job).txt"}"#
      changes = [.accept(LedgerJob(runID: run, name: "live-\(job)", details: details)), .advance(run, to: .running)]
      changes.append(.pause(pause, run: run))
      let names = LedgerNames(page: 0, text: #"[[\#(job),"a"]]"#)
      changes += [.addNames(names, run: run), .name(run, job: "live-\(job)", pages: 1)]
      for position in 0..<count {
        let entry = Self.entry(position, of: "live-\(job)")
        changes.append(.intend(entry, run: run))
        if position < count - 5 { changes.append(.finish(entry, run: run, job: "live-\(job)")) }
        let deferral = LedgerDeferral(position: 1000 + position, attempts: 1, due: 5, wait: 5, firstTried: 1)
        changes.append(.postpone(deferral, run: run))
      }
      try ledger.commit(changes)
    }
  }

  @Test func `8 random bytes anywhere change nothing that is read, or are reported as damage`() throws {
    try fill(200)
    let whole = try Contents(Ledger(path: path))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    var found = 0
    for seed in UInt64(0)..<300 {
      let damaged = folder.file("\(seed).sqlite")
      try bytes.write(to: URL(fileURLWithPath: damaged))
      try DamagedFile.overwrite(damaged, seed: seed)
      do {
        let ledger = try Ledger(path: damaged)
        _ = try ledger.check(bytes: bytes.count) { false }
        #expect(try Contents(ledger) == whole, "seed \(seed)")
      } catch {
        #expect(error.isDamageOfLedger, "seed \(seed): \(error)")
        found += 1
      }
      try FileManager.default.removeItem(atPath: damaged)
    }
    // The rest hit bytes that nothing is read from.
    #expect(found > 100)
  }

  @Test func `what is taken over from a damaged ledger is what was written, and most of it is`() throws {
    try fill()
    let whole = try Contents(Ledger(path: path))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    var kept = 0
    for seed in UInt64(0)..<60 {
      let (damaged, new) = (folder.file("\(seed).sqlite"), folder.file("\(seed)-new.sqlite"))
      try bytes.write(to: URL(fileURLWithPath: damaged))
      try DamagedFile.overwrite(damaged, seed: seed)
      let ledger = try Ledger(path: new)
      _ = try ledger.salvage(from: damaged)
      let contents = try Contents(ledger)
      #expect(contents.jobs.allSatisfy(whole.jobs.contains), "seed \(seed)")
      #expect(contents.entries.allSatisfy(whole.entries.contains), "seed \(seed)")
      #expect(contents.outputs.allSatisfy(whole.outputs.contains), "seed \(seed)")
      #expect(contents.failures.allSatisfy(whole.failures.contains), "seed \(seed)")
      #expect(try ledger.check(bytes: 1) { false })
      kept += contents.entries.count
      for path in [damaged, new] { try FileManager.default.removeItem(atPath: path) }
    }
    #expect(kept > 60 * whole.entries.count * 3 / 4, "\(kept) of \(60 * whole.entries.count)")
  }

  @Test(arguments: [
    "UPDATE jobs SET details = '[]' WHERE run_id = 'run-0'", "UPDATE entries SET row = '{}' WHERE position = 7",
    "UPDATE outputs SET bytes = bytes + 1 WHERE job = 'ended'", "UPDATE failures SET code = 'tls'",
    "UPDATE last_runs SET run_id = 'run-1'", "UPDATE pauses SET began_ms = 6", "UPDATE deferred SET attempts = 2",
    "UPDATE names SET names = '[]'", "UPDATE notices SET body = '[]'", "UPDATE named_runs SET pages = 0",
    "UPDATE entries SET digest = NULL WHERE position = 7",
  ])
  func `a row that was changed is reported when it is read, without a check`(change: String) throws {
    try fill()
    try Database(path: path, durability: .powerCut).execute(change)
    let ledger = try Ledger(path: path)
    let error = #expect(throws: LedgerError.self) { try Contents(ledger) }
    #expect(error?.isDamageOfLedger == true && error?.description.contains(path) == true)
  }

  @Test func `a damaged row is not given a digest that fits by a change of its other columns`() throws {
    try fill()
    try Database(path: path, durability: .powerCut).execute("UPDATE jobs SET details = '[]' WHERE run_id = 'run-0'")
    let ledger = try Ledger(path: path)
    #expect(throws: LedgerError.self) { try ledger.commit([.advance("run-0", to: .finishing, outcome: "o")]) }
    try ledger.commit([.advance("run-1", to: .finishing, outcome: "o")])
    #expect(throws: LedgerError.self) { try ledger.liveJobs() }
  }

  @Test func `a check whose time is over leaves the rest to be found when it is read`() throws {
    try fill()
    #expect(try Ledger(path: path).check(bytes: 1) { false })
    #expect(try !Ledger(path: path).check(bytes: 1) { true })
    #expect(try !Ledger(path: path).check(bytes: 1 << 20, structureLimit: 1 << 10) { false })
  }
}
