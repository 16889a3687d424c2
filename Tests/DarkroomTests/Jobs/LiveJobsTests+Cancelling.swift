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

  @Test func `a request for all named manifests stays until the last of them has taken it`() throws {
    let inbox = try Inbox(path: deliveries.root.file("inbox"), extraLock: nil)
    let files = try ["x.txt", "y.txt", "z.txt"].map { file in
      try deliveries.root.write("http://h/c\n", as: file)
      return try NamedManifest(deliveries.root.file(file), inbox: inbox.path)
    }
    let request = CancelRequest.name(files[0].cancelKeys[1])
    _ = try inbox.folder.create(file: request, mode: 0o644)
    // One waits, and two are being accepted.
    jobs.table.queue = JobQueue(goal: .named([files[0]]), unfinished: [])
    let fresh = jobs.table.queue.fresh(of: [])
    jobs.table.queue.update(fresh, settled: fresh)
    for (number, file) in zip(1..., files.dropFirst()) {
      jobs.table.runs[number] = JobRun(number: number, source: .named(file), now: 0)
    }
    jobs.findUnwanted(try inbox.scan(), in: inbox, settleTime: 0, now: 0)
    #expect(jobs.runs.values.allSatisfy { $0.known.unwanted == .requested })
    let runs = try [1, 2].map { try #require(jobs.table.runs[$0]) }
    jobs.table.runs = [:]
    jobs.removeRequests(for: runs[0])
    #expect(try inbox.folder.status(of: request) != nil, "for the one that waits")
    #expect(jobs.table.queue.nextCancelled { _ in false } == .named(files[0]))
    jobs.table.runs[2] = runs[1]
    jobs.removeRequests(for: runs[0])
    #expect(try inbox.folder.status(of: request) != nil, "for the other run")
    jobs.table.runs[2] = nil
    jobs.removeRequests(for: runs[1])
    #expect(try inbox.folder.status(of: request) == nil)
    engine.shutdown()
  }

  @Test(arguments: [false, true])
  func `a named manifest that is cancelled while it is accepted stays cancelled for the next process`(isBefore: Bool)
    throws
  {
    let inbox = jobs.planner.inbox
    try deliveries.root.write("http://h/c\n", as: "x.txt")
    let file = try NamedManifest(deliveries.root.file("x.txt"), inbox: inbox.path)
    _ = try inbox.folder.create(file: CancelRequest.name(file.cancelKeys[0]), mode: 0o644)
    jobs.table.queue = JobQueue(goal: .named([]), unfinished: [])
    jobs.table.runs[1] = JobRun(number: 1, source: .named(file), now: 0)
    let manifest = try JobManifest.sample(file: "x.txt", identity: file.identity)
    let job = LedgerJob(runID: "run", name: "x", details: try manifest.text)
    if isBefore { jobs.findUnwanted(try inbox.scan(), in: inbox, settleTime: 0, now: 0) }
    try jobs.handle(BackgroundWork.Message.accepted(run: 1, job, manifest))
    if !isBefore { jobs.findUnwanted(try inbox.scan(), in: inbox, settleTime: 0, now: 0) }
    #expect(try inbox.folder.status(of: CancelRequest.name("run")) != nil)
    let run = try #require(jobs.runs[1])
    jobs.table.runs = [:]
    jobs.removeRequests(for: run)
    #expect(try inbox.folder.status(of: CancelRequest.name("run")) == nil, "it has ended")
    engine.shutdown()
  }
}
