import Foundation
import Ledger
import TestSupport
import Testing

@testable import Darkroom

@Suite struct StagingTests {
  private let outbox: Outbox

  init() throws { outbox = try Outbox() }

  @Test("what an earlier attempt of the run left is made anew")
  func create() throws {
    let name = outbox.staging.result(3)
    try outbox.root.write("half of a picture", as: "staging/" + name)
    try outbox.staging.create(name).write("x")
    #expect(outbox.root.text("staging/" + name) == "x")
    outbox.staging.remove(name)
    outbox.staging.remove(name)
    #expect(try outbox.staged.isEmpty)
  }

  @Test("a link under a name in staging is not followed")
  func link() throws {
    try outbox.root.write("theirs", as: "precious")
    try outbox.root.link("staging/" + outbox.staging.result(0), to: "../precious")
    try outbox.staging.create(outbox.staging.result(0)).write("ours")
    #expect(outbox.root.text("precious") == "theirs")
  }

  @Test("names of runs, entries and kinds differ")
  func names() {
    let runs = ["a", "b"].map { Staging(folder: "/s", runID: $0) }
    let names = runs.flatMap { run in
      (0..<20).flatMap { [run.download($0), run.result($0)] } + [
        run.document("report.json"), run.document("x.failed.jsonl"),
      ]
    }
    #expect(Set(names).count == names.count)
  }

  @Test("the longest name of a job leaves room for its files")
  func longestJob() throws {
    let job = String(repeating: "j", count: InboxFile.jobNameLimit)
    let staging = Staging(folder: outbox.staging.folder, runID: RunID.make())
    _ = try staging.create(staging.document(job + ".failed.jsonl"))
    _ = try OpenFile(creating: outbox.root.file(job + ".failed.jsonl"))
  }

  @Test("leftovers go; intents and snapshots of live jobs stay")
  func leftovers() throws {
    let intended = try outbox.delivery("new", position: 1)
    try outbox.ledger.intend([LedgerEntry(position: 1, delivery: intended, row: "{}")], run: Outbox.runID)
    for name in ["other-run-3.source", Outbox.runID + "-2.source", Outbox.runID + "-report.json", "anything"] {
      try outbox.root.write("x", as: "staging/" + name)
    }
    for run in [Outbox.runID, "ended-run"] {
      try outbox.root.makeFolder("state/jobs/" + run)
      try outbox.root.write("x", as: "state/jobs/\(run)/manifest.json")
    }
    let live = try outbox.ledger.liveJobs()[...]
    for _ in 0..<2 {
      try Leftovers(staging: outbox.staging.folder, state: outbox.state).remove(keeping: live, ledger: outbox.ledger)
      #expect(try outbox.staged == [intended.staged])
      #expect(try outbox.root.names(in: "state/jobs") == [Outbox.runID])
    }
    try Leftovers(staging: outbox.staging.folder, state: outbox.state).remove(keeping: [], ledger: outbox.ledger)
    #expect(try outbox.staged.isEmpty)
    #expect(try outbox.root.names(in: "state/jobs").isEmpty)
  }
}
