import Ledger
import Testing
import TestSupport

@testable import Delivery
@testable import Model

@Suite struct OrphanCleanupTests {
  private let outbox: Outbox

  init() throws { outbox = try Outbox() }

  @Test("orphans go; intents and snapshots of live jobs stay")
  func cleanup() throws {
    let intended = try outbox.delivery("new", position: 1)
    try outbox.ledger.commit([.intend(LedgerEntry(position: 1, delivery: intended, row: "{}"), run: Outbox.runID)])
    for name in ["other-run-3.source", Outbox.runID + "-2.source", Outbox.runID + "-report.json", "anything"] {
      try outbox.root.write("x", as: "staging/" + name)
    }
    for run in [Outbox.runID, "ended-run"] {
      try outbox.root.write("x", as: "state/jobs/\(run).json")
      try outbox.root.write("x", as: "state/jobs/\(run).index")
    }
    let live = try outbox.ledger.liveJobs()
    let cleanup = OrphanCleanup(staging: try outbox.staging.open(), state: outbox.state)
    for _ in 0..<2 {
      try cleanup.run(keeping: live, ledger: outbox.ledger)
      #expect(try outbox.staged == [intended.staged])
      #expect(try outbox.root.names(in: "state/jobs") == [Outbox.runID + ".index", Outbox.runID + ".json"])
    }
    try cleanup.run(keeping: [], ledger: outbox.ledger)
    #expect(try outbox.staged.isEmpty)
    #expect(try outbox.root.names(in: "state/jobs").isEmpty)
  }
}
