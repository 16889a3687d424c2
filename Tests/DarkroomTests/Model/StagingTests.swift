import Foundation
import Ledger
import System
import Testing
import TestSupport

@testable import Inbox
@testable import Model

@Suite struct StagingTests {
  private let outbox: Outbox

  init() throws { outbox = try Outbox() }

  @Test("what an earlier attempt of the run left is made anew")
  func create() throws {
    let name = outbox.staging.file(.result, of: 3)
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
    try outbox.root.link("staging/" + outbox.staging.file(.result, of: 0), to: "../precious")
    try outbox.staging.create(outbox.staging.file(.result, of: 0)).write("ours")
    #expect(outbox.root.text("precious") == "theirs")
  }

  @Test func `the files of a run's entries go, and nothing else does`() throws {
    let staging = outbox.staging
    let other = Staging(folder: staging.folder, runID: staging.runID + "1")
    let kept = [
      staging.document("report.json"), staging.document("manifest"), staging.download(1) + "-7", other.download(1),
      staging.runID + "-x.source", staging.runID + "-1.other",
    ]
    for name in kept + [0, 1, 12_345].flatMap(staging.files) { try staging.create(name).write("x") }
    staging.removeFilesOfEntries()
    #expect(try Set(outbox.staged) == Set(kept))
    for name in staging.files(of: 2) { try staging.create(name).write("x") }
    staging.removeFiles(of: 2)
    #expect(try Set(outbox.staged) == Set(kept))
  }

  @Test("names of runs, entries and kinds differ")
  func names() {
    let runs = ["a", "b"].map { Staging(folder: "/s", runID: $0) }
    let names = runs.flatMap { run in
      (0..<20).flatMap { [run.download($0), run.file(.result, of: $0)] } + [
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
}
