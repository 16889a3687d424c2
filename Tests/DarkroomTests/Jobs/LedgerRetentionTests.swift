import Foundation
import Ledger
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Delivery
@testable import Inbox
@testable import Model

@Suite(.blocking) struct LedgerRetentionTests {
  private static let day = 86_400.0

  private let root: TemporaryFolder
  private let state: StateFolder
  private let ledger: Ledger
  private let inbox: Inbox
  private let outbox: OpenFolder

  init() throws {
    root = try TemporaryFolder()
    for name in ["out/.darkroom", "state", "inbox"] { try root.makeFolder(name) }
    state = StateFolder(path: root.file("state"))
    ledger = try Ledger(path: state.ledger)
    inbox = try Inbox(path: root.file("inbox"), extraLock: nil)
    outbox = try OpenFolder(root.file("out"))
  }

  private func retention() -> LedgerRetention {
    LedgerRetention(LedgerSweep(ledger: ledger, outbox: outbox, inbox: inbox), state: state)
  }

  /// Has so much of the ledger looked at as after a run that delivered so many results.
  private func sweep(delivered: Int = 1000) {
    let retention = retention()
    retention.runEnded(delivered: delivered)
    retention.close()
  }

  private static func seconds(ago days: Double) -> Double { Date().timeIntervalSince1970 - days * day }

  /// The identity of a file that was delivered so many days ago.
  private static func identity(daysAgo days: Double) -> String { "17 3 1.5 \(Int(seconds(ago: days))).25" }

  private static func delivered(_ target: String, daysAgo: Double?, job: String = "job") -> LedgerChange {
    var delivery = Delivery(staged: "", target: target, bytes: 3, sha256: "ab")
    delivery.identity = daysAgo.map(identity)
    return .recall(delivery, job: job)
  }

  private func targets() throws -> [String] {
    try ledger.outputs(after: "", "", limit: 10_000).map { $0.job + "/" + $0.target }
  }

  @Test func `the record of a result lives as long as its file, and some days`() throws {
    try root.makeFolder("out/job/images")
    for name in ["there.jpg", "there, not known.jpg"] { try root.write("x", as: "out/job/images/" + name) }
    try root.link("out/job/images/link.jpg", to: "nowhere")
    try ledger.commit([
      Self.delivered("images/there.jpg", daysAgo: 1000), Self.delivered("images/there, not known.jpg", daysAgo: nil),
      Self.delivered("images/link.jpg", daysAgo: 1000), Self.delivered("images/taken.jpg", daysAgo: 7.9),
      Self.delivered("images/gone.jpg", daysAgo: 8.1), Self.delivered("images/gone, not known.jpg", daysAgo: nil),
      Self.delivered("images/gone.jpg", daysAgo: 9, job: "gone"), Self.delivered("images/new.jpg", daysAgo: -400),
    ])
    sweep()
    #expect(
      try targets() == [
        "job/images/link.jpg", "job/images/new.jpg", "job/images/taken.jpg", "job/images/there, not known.jpg",
        "job/images/there.jpg",
      ])
  }

  @Test(arguments: ["job", "job/images"])
  func `what is not to be seen for a symbolic link has not gone`(name: String) throws {
    try root.makeFolder("elsewhere")
    try root.makeFolder("out/" + Folder.parent(of: name))
    try root.link("out/" + name, to: root.file("elsewhere"))
    try ledger.commit([Self.delivered("images/a.jpg", daysAgo: 1000), Self.delivered("images/b.jpg", daysAgo: nil)])
    sweep()
    #expect(try targets().count == 2)
  }

  @Test func `where the outbox is not mounted nothing leaves`() throws {
    try ledger.commit([Self.delivered("images/gone.jpg", daysAgo: 100)])
    try Folder.rename(root.file("out/.darkroom"), to: root.file("elsewhere"))
    sweep()
    #expect(try targets().count == 1)
  }

  @Test(arguments: [false, true])
  func `a sweep takes up where the last one ended, also in another process`(isAnotherProcess: Bool) throws {
    try ledger.commit((0..<1000).map { Self.delivered("images/\($0).jpg", daysAgo: 9) })
    let only = retention()
    var steps = 0
    while try !targets().isEmpty, steps < 100 {
      steps += 1
      if isAnotherProcess {
        sweep(delivered: 50)
      } else {
        only.runEnded(delivered: 50)
        only.step()
      }
    }
    // 164 records a time, and a last time to find that there are no more.
    #expect(7...9 ~= steps)
  }

  @Test func `much is looked at after much was delivered`() throws {
    try ledger.commit((0..<9000).map { Self.delivered("images/\($0).jpg", daysAgo: 9) })
    let only = retention()
    only.runEnded(delivered: 4500)
    // On a slow machine a step's time is over before all are looked at.
    var steps = 0
    while try !targets().isEmpty, steps < 20 {
      steps += 1
      only.step()
      only.runEnded(delivered: 0)
    }
    #expect(try targets().isEmpty)
  }

  @Test func `what failed in a job's last run is kept as long as its folder, and for a month`() throws {
    func runID(_ days: Double) -> String { RunID.make(at: Date(timeIntervalSince1970: Self.seconds(ago: days))) }
    try root.makeFolder("out/there")
    let jobs = [("there", 1000.0), ("young", 34.9), ("old", 35.1), ("other", 100)]
    for (job, days) in jobs { try ledger.commit([.remember(job == "other" ? "another name" : runID(days), job: job)]) }
    sweep()
    #expect(try ledger.lastRuns(after: "", "", limit: 10).map(\.job) == ["other", "there", "young"])
  }

  @Test func `of two runs of a job the second leaves, too, when a sweep ends between them each time`() throws {
    func runID(_ days: Double) -> String { RunID.make(at: Date(timeIntervalSince1970: Self.seconds(ago: days))) }
    for job in ["a", "b", "c"] {
      try root.makeFolder("out/" + job)
      try ledger.commit([.remember(runID(40), job: job)])
    }
    // A sweep after a run that delivers nothing looks at four. The first of this job stays.
    try ledger.commit([.remember("0", job: "d"), .name(runID(40), job: "d", pages: 0)])
    sweep(delivered: 0)
    #expect(try ledger.lastRuns(after: "", "", limit: 10).map(\.job) == ["a", "b", "c", "d", "d"])
    sweep(delivered: 0)
    #expect(try ledger.lastRuns(after: "", "", limit: 10).map(\.job) == ["a", "b", "c", "d"])
  }

  @Test func `ended runs leave when there are many, but for those whose manifests are in the inbox still`() throws {
    func end(_ number: Int, inboxPath: String?, identity: String = "1 2 3.4 5.6") throws {
      let manifest = try JobManifest.sample(file: "\(number).txt", inboxPath: inboxPath, identity: identity)
      let job = LedgerJob(runID: "run-\(number)", name: "\(number)", details: try manifest.text)
      try ledger.commit([.accept(job), .advance(job.runID, to: .ended)])
    }
    try root.write("x", as: "inbox/0.txt")
    try end(0, inboxPath: root.file("inbox/0.txt"), identity: FileStatus(of: root.file("inbox/0.txt")).identity.text)
    // Another file has its name.
    try root.write("x", as: "inbox/1.txt")
    try end(1, inboxPath: root.file("inbox/1.txt"))
    try end(2, inboxPath: nil)
    try end(3, inboxPath: "/not/mounted/3.txt")
    for number in 4..<Retention.endedRuns - 1 { try end(number, inboxPath: root.file("inbox/\(number).txt")) }
    sweep()
    #expect(try ledger.endedRunCount() == Retention.endedRuns - 1)
    try end(1000, inboxPath: root.file("inbox/1000.txt"))
    // Its ctime changes.
    chmod(root.file("inbox/0.txt"), 0o600)
    try root.makeFolder("inbox/" + ParkingFolder.name)
    sweep()
    #expect(try ledger.endedRunCount() == Retention.endedRuns, "one is being moved perhaps")
    rmdir(root.file("inbox/" + ParkingFolder.name))
    sweep()
    #expect(try ledger.endedRuns(after: 0, limit: 10).map(\.runID) == ["run-0", "run-3"])
  }

  @Test func `what an earlier process left of a large run is removed though no run ends`() throws {
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    let entries = (0..<25_000).map { LedgerEntry(position: $0, delivery: nil, row: "") }
    try ledger.commit(entries.map { .finish($0, run: "r", job: "j") } + [.advance("r", to: .ended)])
    func isLeft() throws -> Bool {
      var count = 0
      try ledger.eachEndedPage(run: "r") { count += $0.count }
      return count > 0
    }
    #expect(try isLeft())
    let retention = retention()
    while try isLeft() { usleep(10_000) }
    retention.close()
    #expect(try ledger.lastEnded(job: "j")?.runID == "r")
  }

  @Test func `where a sweep is gets a file of its own each time, in one step`() throws {
    try ledger.commit((0..<1000).map { Self.delivered("images/\($0).jpg", daysAgo: 1) })
    sweep(delivered: 10)
    let (before, text) = (
      try FileStatus(of: state.retention), try String(contentsOfFile: state.retention, encoding: .utf8)
    )
    sweep(delivered: 10)
    let after = try FileStatus(of: state.retention)
    #expect(!after.identity.isSameNode(as: before.identity), "the old text is there until the new one is")
    #expect(try String(contentsOfFile: state.retention, encoding: .utf8) != text)
    #expect(after.mode == 0o600)
  }

  @Test func `a file most of which holds nothing gets smaller`() throws {
    try ledger.commit([.accept(LedgerJob(runID: "r", name: "j", details: ""))])
    let row = String(repeating: "row ", count: 1800)
    let ended = (0..<2 * LedgerSweep.freePages).map { LedgerEntry(position: $0, delivery: nil, row: row) }
    try ledger.commit(ended.map { .finish($0, run: "r", job: "j") } + [.advance("r", to: .ended)])
    let before = try FileStatus(of: state.ledger).size
    let limit = try LedgerSweep.freePages * ledger.pages().bytes
    sweep()
    let after = try FileStatus(of: state.ledger).size
    #expect(before > 2 * limit && after < limit / 2)
  }
}
