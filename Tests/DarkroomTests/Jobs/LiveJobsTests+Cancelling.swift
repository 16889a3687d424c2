import Glibc
import Ledger
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Inbox
@testable import Model

/// Requests to cancel jobs.
extension LiveJobsTests {
  @Test(arguments: [false, true])
  func `a request for the manifest of a job that an earlier process left stays when another file has its name`(
    isLeft: Bool
  ) throws {
    let inbox = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil)
    let file = try #require(try inbox.scan().manifests.first)
    let manifest = try JobManifest.sample(
      file: "a.txt", inboxPath: deliveries.root.file("inbox/a.txt"), identity: file.identity.text)
    let job = LedgerJob(runID: "earlier", name: "a", details: try manifest.text)
    jobs.table.queue = JobQueue(goal: .watch, unfinished: isLeft ? [(job, manifest)] : [])
    _ = try inbox.folder.create(file: CancelRequest.name(file.cancelKey), mode: 0o644)
    try inbox.folder.remove("a.txt")
    try deliveries.root.write("http://h/c\n", as: "inbox/a.txt")
    let scan = try inbox.scan()
    #expect(scan.manifests.map(\.cancelKey) != [file.cancelKey])
    jobs.findUnwanted(scan, in: inbox, settleTime: 0, now: 0)
    #expect(jobs.table.queue.cancelled == (isLeft ? [file.cancelKey] : []))
    #expect(try (inbox.folder.status(of: CancelRequest.name(file.cancelKey)) != nil) == isLeft, "others are removed")
    engine.shutdown()
  }
}
