import Foundation
import Ledger
import System
import TestSupport
import Transfer

@testable import Delivery
@testable import Model

/// A job's folder, staging and a ledger that has accepted the job `job` as run `run-0001`.
final class Outbox: Sendable {
  static let runID = "run-0001"

  let root: TemporaryFolder
  let folder: JobFolder
  let staging: Staging
  let state: StateFolder
  let ledger: Ledger
  var placement: Placement { Placement(folder: folder, staging: staging, ledger: ledger) }
  var run: RunContext { RunContext(number: 1, runID: Self.runID, folder: folder, staging: staging) }

  init() throws {
    root = try TemporaryFolder()
    for name in ["out/job/images", "staging", "state/jobs"] { try root.makeFolder(name) }
    folder = JobFolder(path: root.file("out/job"), name: "job")
    staging = Staging(folder: root.file("staging"), runID: Self.runID)
    state = StateFolder(path: root.file("state"))
    ledger = try Ledger(path: state.ledger)
    try ledger.commit([.accept(LedgerJob(runID: Self.runID, name: "job", details: ""))])
  }

  /// What would deliver a text under a path; the text is put into staging unless `isStaged` is false.
  func delivery(_ text: String, to target: String = "images/a.jpg", position: Int = 0, isStaged: Bool = true) throws
    -> Delivery
  {
    let name = staging.file(.result, of: position)
    if isStaged { try root.write(text, as: "staging/" + name) }
    return Delivery(staged: name, target: target, bytes: text.utf8.count, sha256: Self.sha256(text))
  }

  /// Records a delivery as done, as an earlier run would have.
  func remember(_ delivery: Delivery) throws {
    let entry = LedgerEntry(position: 1_000_000, delivery: delivery, row: "{}")
    try ledger.commit([.finish(entry, run: Self.runID, job: "job")])
  }

  func text(_ target: String) -> String? { root.text("out/job/" + target) }

  func write(_ text: String, to target: String) throws { try root.write(text, as: "out/job/" + target) }

  var staged: [String] { get throws { try root.names(in: "staging") } }

  static func sha256(_ text: String) -> String {
    MessageDigest.hexDigest(of: text)
  }
}
