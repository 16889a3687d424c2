import Glibc
import Ledger
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Inbox
@testable import Model

@Suite struct JobQueueTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func manifest(_ file: String, job: String? = nil, size: Int = 1) -> InboxScan.Manifest {
    .init(file: file, job: job ?? file, identity: .sample(size: size))
  }

  private static let job = LedgerJob(runID: "r", name: "old", details: "{}")

  /// Files that are named as arguments.
  private func named(_ names: String...) throws -> [NamedManifest] {
    try names.map { name in
      if name.contains("/") { try folder.makeFolder(Folder.parent(of: name)) }
      return try NamedManifest(folder.write("http://h/a\n", as: name), inbox: "/nowhere")
    }
  }

  private static func queue(_ goal: JobQueue.Goal, unfinished: [LedgerJob] = []) throws -> JobQueue {
    JobQueue(goal: goal, unfinished: try unfinished.map { ($0, try .sample()) })
  }

  /// Takes in a scan in which everything is settled.
  private static func scan(_ queue: inout JobQueue, _ manifests: [InboxScan.Manifest]) {
    let fresh = queue.fresh(of: manifests)
    queue.update(fresh, settled: fresh)
  }

  /// The next job; none is live unless it is named.
  private static func next(_ queue: inout JobQueue, live: String...) -> JobPlanning.Source? {
    queue.next { live.contains($0) }
  }

  @Test func `nothing becomes live before the inbox was scanned`() throws {
    for goal in [JobQueue.Goal.inbox, .watch, .named(try named("x.txt"))] {
      var queue = try Self.queue(goal, unfinished: [Self.job])
      #expect(Self.next(&queue) == nil)
      #expect(!queue.isOver && !queue.isEmpty)
    }
  }

  @Test func `jobs that were set aside become live after all others, or when their time is over`() throws {
    var queue = try Self.queue(.watch, unfinished: [Self.job])
    Self.scan(&queue, [])
    for (name, end) in [("a", 30.0), ("b", 20)] {
      queue.setAside(LedgerJob(runID: name, name: name, details: "{}"), order: 1, file: nil, until: end)
    }
    Self.scan(&queue, [Self.manifest("x.txt")])
    func next(_ now: Double, withAside: Bool) -> String? {
      queue.next(isLive: { _ in false }, now: now, withAside: withAside)?.job
    }
    #expect(queue.asideEnd(after: 0) == 20 && queue.asideEnd(after: 20) == 30)
    #expect(next(0, withAside: false) == "old")
    #expect(next(20, withAside: false) == "b")
    #expect(next(0, withAside: true) == "x.txt")
    #expect(next(0, withAside: false) == nil && !queue.isOver && !queue.isEmpty)
    #expect(next(0, withAside: true) == "a")
    #expect(queue.asideEnd(after: 0) == nil)
  }

  @Test func `a job that was set aside is not when its manifest is missing, or another waits for it`() throws {
    var scan = InboxScan()
    scan.manifests = [Self.manifest("a.txt", job: "a", size: 2)]
    for (hasManifest, isSettled, isFirst) in [(true, false, false), (true, true, true), (false, false, true)] {
      var queue = try Self.queue(.watch)
      queue.setAside(LedgerJob(runID: "r", name: "a", details: "{}"), order: 1, file: FileName("a.txt"), until: 30)
      queue.endAside(unlessIn: hasManifest ? scan : InboxScan())
      queue.update(scan.manifests, settled: isSettled ? scan.manifests : [])
      // That finds the manifest, and may let the job be first.
      let next =
        queue.next(isLive: { _ in false }, withAside: false) ?? queue.next(isLive: { _ in false }, withAside: false)
      #expect((next?.job == "a") == isFirst)
    }
  }

  @Test func `what holds a job ends with what there is of it`() throws {
    let file = Self.manifest("a.txt", job: "a")
    for (present, unexamined, isHeld) in [
      ([file], [], true), ([], [FileName("a.txt")], true), ([], [], false),
      ([Self.manifest("b.txt", job: "b")], [FileName("c.txt")], false),
    ] as [([InboxScan.Manifest], Set<FileName>, Bool)] {
      var queue = try Self.queue(.watch)
      Self.scan(&queue, [file])
      var holds = Holds()
      holds.hold(.planning("a"), "an error", now: 0)
      queue.update(queue.fresh(of: present, unexamined: unexamined), settled: present)
      holds.keepPlanning(of: queue.jobs)
      #expect((holds[.planning("a")] != nil) == isHeld, "\(present) \(unexamined)")
    }
    var queue = try Self.queue(.watch, unfinished: [Self.job])
    Self.scan(&queue, [])
    #expect(queue.jobs == [ByteKey(Self.job.name)])
  }

  @Test func `what is left for the next start is waited for no more, and only run leaves anything`() throws {
    let (left, other) = (FileName("b.txt"), FileName("c.txt"))
    for goal in [JobQueue.Goal.inbox, .watch] {
      var queue = try Self.queue(goal)
      let manifests = [Self.manifest("a.txt"), Self.manifest("b.txt")]
      queue.update(queue.fresh(of: manifests), settled: [manifests[0]])
      let (found, again) = (queue.leaveToNextStart([left, other]), queue.leaveToNextStart([left]))
      #expect(found == (goal == .inbox ? [left] : []) && again.isEmpty)
      #expect(Self.next(&queue) == .dropped(manifests[0]))
      queue.ignore("a.txt", identity: manifests[0].identity.text)
      #expect(queue.isOver == (goal == .inbox))
      let fresh = queue.fresh(of: manifests)
      #expect(fresh.map(\.file) == (goal == .inbox ? [] : ["b.txt"]))
      #expect(queue.queuedForNextStart(limit: 9).files == (goal == .inbox ? ["b.txt"] : []))
    }
  }

  @Test func `what an earlier process left comes first, then what was named`() throws {
    let files = try named("old.txt", "y.txt")
    var queue = try Self.queue(.named(files), unfinished: [Self.job])
    Self.scan(&queue, [Self.manifest("a.txt")])
    #expect(Self.next(&queue) == .unfinished(Self.job))
    #expect(queue.queued(limit: 9) == (files.map(\.path), 2))
    #expect(queue.queuedForNextStart(limit: 9) == (["a.txt"], 1))
    #expect(Self.next(&queue) == .named(files[0]))
    #expect(!queue.isOver)
    #expect(Self.next(&queue) == .named(files[1]))
    #expect(Self.next(&queue) == nil, "what lies in the inbox was not named")
    #expect(queue.isOver)
  }

  @Test(arguments: [JobQueue.Goal.inbox, .watch])
  func `a manifest that is being accepted stays queued when its file is removed`(_ goal: JobQueue.Goal) throws {
    var queue = try Self.queue(goal)
    let (a, b) = (Self.manifest("a"), Self.manifest("b"))
    Self.scan(&queue, [a, b])
    let taken = try #require(Self.next(&queue))
    #expect(queue.queued(beginning: [taken], limit: 9) == (["a", "b"], 2), "it does not count twice")
    Self.scan(&queue, [b])
    #expect(queue.queued(beginning: [taken], limit: 9) == (["a", "b"], 2))
    #expect(queue.queued(beginning: [taken], limit: 1) == (["a"], 2))
    #expect(queue.queued(beginning: [.unfinished(Self.job)], limit: 9) == (["b"], 1), "that is a job already")
  }

  @Test func `a named manifest stays queued while it is being accepted`() throws {
    let files = try named("x.txt", "y.txt")
    var queue = try Self.queue(.named(files))
    Self.scan(&queue, [])
    let taken = try #require(Self.next(&queue))
    #expect(queue.queued(beginning: [taken], limit: 9) == (files.map(\.path), 2))
  }

  @Test func `run takes what lay there at the first scan and no more`() throws {
    var queue = try Self.queue(.inbox)
    let (a, b, c) = (Self.manifest("a"), Self.manifest("b"), Self.manifest("c"))
    Self.scan(&queue, [a, b])
    #expect(Self.next(&queue) == .dropped(a))
    queue.ignore("a", identity: a.identity.text)
    Self.scan(&queue, [a, b, c])
    #expect(queue.queued(limit: 9) == (["b"], 1) && queue.queuedForNextStart(limit: 9) == (["c"], 1))
    #expect(queue.queuedForNextStart(limit: 0) == ([], 1))
    #expect(Self.next(&queue) == .dropped(b))
    queue.ignore("b", identity: b.identity.text)
    #expect(Self.next(&queue) == nil)
    #expect(queue.isOver)
  }

  @Test func `watch takes what comes, and a file again when it has changed`() throws {
    var queue = try Self.queue(.watch)
    let (old, new) = (Self.manifest("a", size: 1), Self.manifest("a", size: 2))
    Self.scan(&queue, [old])
    #expect(Self.next(&queue) == .dropped(old))
    queue.ignore("a", identity: old.identity.text)
    Self.scan(&queue, [old])
    #expect(Self.next(&queue) == nil)
    Self.scan(&queue, [new])
    #expect(Self.next(&queue) == .dropped(new))
    #expect(!queue.isOver)
  }

  @Test func `a file that could not be taken is offered again at the next scan, and run waits for it`() throws {
    var queue = try Self.queue(.inbox)
    let a = Self.manifest("a")
    Self.scan(&queue, [a])
    #expect(Self.next(&queue) == .dropped(a))
    #expect(Self.next(&queue) == nil)
    #expect(!queue.isOver)
    Self.scan(&queue, [a])
    #expect(Self.next(&queue) == .dropped(a))
    Self.scan(&queue, [])
    #expect(queue.isOver, "it went away")
  }

  @Test func `a file that is not settled is waited for and not taken`() throws {
    var queue = try Self.queue(.inbox)
    let fresh = queue.fresh(of: [Self.manifest("a")])
    queue.update(fresh, settled: [])
    #expect(Self.next(&queue) == nil)
    #expect(!queue.isOver)
    #expect(queue.queued(limit: 9) == (["a"], 1))
  }

  @Test func `names that differ in their bytes alone are different files`() throws {
    var queue = try Self.queue(.watch)
    let (composed, decomposed) = (Self.manifest("\u{e9}", job: "1"), Self.manifest("e\u{301}", job: "2"))
    Self.scan(&queue, [composed, decomposed])
    #expect(Self.next(&queue) == .dropped(composed))
    queue.ignore("\u{e9}", identity: composed.identity.text)
    #expect(Self.next(&queue) == .dropped(decomposed))
  }

  @Test func `of a long queue the first are told, and how many there are`() throws {
    var queue = try Self.queue(.watch)
    Self.scan(&queue, (0..<500).map { Self.manifest("\($0)") })
    queue.ignore("0", identity: FileIdentity.sample(size: 1).text)
    #expect(queue.queued(limit: 2) == (["1", "2"], 499))
  }

  @Test func `a manifest whose job is live waits, others go past it, and it is the next when it is not`() throws {
    var queue = try Self.queue(.watch)
    let manifests = [Self.manifest("a.txt", job: "a"), Self.manifest("a.csv", job: "a"), Self.manifest("b", job: "b")]
    Self.scan(&queue, manifests)
    #expect(Self.next(&queue) == .dropped(manifests[0]))
    #expect(Self.next(&queue, live: "a") == .dropped(manifests[2]))
    #expect(Self.next(&queue, live: "a") == nil)
    queue.ignore("b", identity: manifests[2].identity.text)
    #expect(Self.next(&queue) == .dropped(manifests[1]), "without another scan")
  }

  @Test func `the same holds for files that were named, and for what an earlier process left`() throws {
    let files = try named("x.txt", "other/x.txt", "y.txt")
    let jobs = ["x", "y", "y"].enumerated().map { LedgerJob(runID: "r\($0)", name: $1, details: "") }
    var queue = try Self.queue(.named(files), unfinished: jobs)
    Self.scan(&queue, [])
    #expect(Self.next(&queue, live: "x") == .unfinished(jobs[1]))
    #expect(Self.next(&queue, live: "x", "y") == nil, "an earlier run of the job comes first")
    #expect(Self.next(&queue, live: "y") == .unfinished(jobs[0]))
    #expect(Self.next(&queue, live: "x", "y") == nil)
    #expect(Self.next(&queue, live: "y") == .named(files[0]))
    #expect(Self.next(&queue, live: "x", "y") == nil)
    #expect(Self.next(&queue, live: "y") == .named(files[1]))
    #expect(Self.next(&queue) == .unfinished(jobs[2]))
    #expect(Self.next(&queue) == .named(files[2]))
    #expect(queue.isOver)
  }

  @Test func `a manifest of the inbox waits for an earlier run of its job`() throws {
    var queue = try Self.queue(.watch, unfinished: [Self.job])
    let new = Self.manifest("new", job: "old")
    Self.scan(&queue, [new])
    #expect(Self.next(&queue, live: "old") == nil)
    #expect(Self.next(&queue) == .unfinished(Self.job))
    #expect(Self.next(&queue, live: "old") == nil)
    #expect(Self.next(&queue) == .dropped(new))
  }

  @Test func `the manifest of a job that an earlier process left is not taken again, dropped or named`() throws {
    let files = try named("old.txt")
    let dropped = Self.manifest("old.txt", job: "old")
    let manifest = try JobManifest.sample(
      file: "old.txt", inboxPath: "/inbox/old.txt", identity: dropped.identity.text)
    var queue = JobQueue(goal: .watch, unfinished: [(Self.job, manifest)])
    Self.scan(&queue, [dropped])
    #expect(Self.next(&queue) == .unfinished(Self.job))
    #expect(Self.next(&queue) == nil)
    Self.scan(&queue, [Self.manifest("old.txt", job: "old", size: 2)])
    #expect(Self.next(&queue) != nil, "another file of that name is")
    queue = JobQueue(
      goal: .named(files), unfinished: [(Self.job, try .sample(file: "old.txt", identity: files[0].identity))])
    Self.scan(&queue, [])
    #expect(Self.next(&queue) == .unfinished(Self.job))
    #expect(Self.next(&queue) == nil)
    #expect(queue.isOver)
  }

  @Test
  func `a job that an earlier process left is cancelled by its run or its manifest, and by no other file of that name`()
    throws
  {
    let manifest = try JobManifest.sample(file: "old.txt", inboxPath: "/inbox/old.txt")
    let job = LedgerJob(runID: "r", name: "old", details: try manifest.text)
    let key = CancelRequest.key(ofManifest: "old.txt", identity: manifest.identity)
    for (request, isFound) in [("r", true), (key, true), (Self.manifest("old.txt").cancelKey, false)] {
      var queue = JobQueue(goal: .watch, unfinished: [(job, manifest)])
      Self.scan(&queue, [Self.manifest("old.txt", job: "old")])
      queue.cancelled = [request]
      #expect(queue.isCancelled(job) == isFound)
      #expect(queue.nextCancelled { _ in false } == (isFound ? .unfinished(job) : nil))
    }
  }

  @Test func `a named manifest that is to be cancelled goes past the others`() throws {
    let files = try named("x.txt", "y.txt", "z.txt")
    var queue = try Self.queue(.named(files))
    queue.cancelled = [files[1].cancelKeys[0]]
    Self.scan(&queue, [])
    #expect(queue.queuedCancelled(limit: 9) == ["y.txt"].map(folder.file))
    #expect(queue.nextCancelled { $0 == "y" } == nil, "a run of its job goes on")
    #expect(queue.nextCancelled { _ in false } == .named(files[1]))
    #expect(queue.nextCancelled { _ in false } == nil && queue.queuedCancelled(limit: 9) == nil)
    #expect(Self.next(&queue) == .named(files[0]))
  }

  @Test func `all named manifests can be cancelled by one request, and those of a job by another`() throws {
    let files = try named("x.txt", "y.txt", "a/y.txt")
    for (key, expected) in [(files[0].cancelKeys[1], files), (files[1].cancelKeys[0], Array(files.dropFirst()))] {
      var queue = try Self.queue(.named(files))
      queue.cancelled = [key]
      Self.scan(&queue, [])
      for file in expected { #expect(queue.nextCancelled { _ in false } == .named(file)) }
      #expect(queue.nextCancelled { _ in false } == nil)
    }
  }

  @Test func `a job that is to be tried again is the next`() throws {
    let files = try named("old.txt", "y.txt")
    var queue = try Self.queue(.named(files), unfinished: [Self.job])
    Self.scan(&queue, [])
    for expected in [JobPlanning.Source.unfinished(Self.job), .named(files[0])] {
      let first = try #require(Self.next(&queue))
      #expect(first == expected)
      queue.retry(first)
      #expect(!queue.isOver)
      #expect(Self.next(&queue) == expected)
    }
    #expect(Self.next(&queue) == .named(files[1]))
  }
}

extension FileIdentity {
  static func sample(size: Int) -> FileIdentity {
    var status = stat()
    status.st_size = off_t(size)
    return FileIdentity(status)
  }
}

/// Jobs of earlier processes that are not worked on now.
@Suite struct LeftJobTests {
  private static let jobs = ["old", "new"].map { LedgerJob(runID: "r-" + $0, name: $0, details: "{}") }

  private static func queue(_ goal: JobQueue.Goal) throws -> JobQueue {
    JobQueue(goal: goal, unfinished: try jobs.map { ($0, try .sample()) })
  }

  @Test func `with named manifests only unfinished jobs of their names are resumed`() throws {
    let folder = try TemporaryFolder()
    let named = try NamedManifest(folder.write("http://h/a\n", as: "new.txt"), inbox: "/nowhere")
    var queue = try Self.queue(.named([named]))
    queue.update([], settled: [])
    #expect(queue.next { _ in false }?.job == "new" && queue.left.jobs.map(\.name) == ["old"])
    #expect(queue.next { $0 == "new" } == nil && !queue.isOver)
    #expect(queue.next { _ in false }?.description == named.description)
    #expect(queue.next { _ in false } == nil && queue.isOver)
  }

  @Test(arguments: [JobQueue.Goal.inbox, .watch])
  func `a job waits for the options with which it was accepted, and others go on`(goal: JobQueue.Goal) throws {
    var queue = try Self.queue(goal)
    let dropped = ["old", "other"].map {
      InboxScan.Manifest(file: $0 + ".txt", job: $0, identity: .sample(size: 1))
    }
    queue.holdUncovered { $0.name == "old" ? ["--allow-net 127.0.0.0/8"] : [] }
    let fresh = queue.fresh(of: dropped)
    queue.update(fresh, settled: fresh)
    var started: [String] = []
    while let next = queue.next(isLive: { started.contains($0) }) {
      started.append(next.job)
      if case .dropped(let manifest) = next { queue.ignore(manifest.file, identity: manifest.identity.text) }
    }
    #expect(started == ["new", "other"])
    #expect(queue.isOver == (goal == .inbox), "run leaves it to another start")
    guard goal == .watch else { return }
    queue.holdUncovered { _ in [] }
    #expect(queue.next { _ in false }?.job == "old")
  }

  @Test func `a manifest that waits behind a job without its options is looked for again when that is cancelled`()
    throws
  {
    var queue = try Self.queue(.inbox)
    let dropped = InboxScan.Manifest(file: "old.txt", job: "old", identity: .sample(size: 1))
    queue.holdUncovered { $0.name == "old" ? ["--allow-net 127.0.0.0/8"] : [] }
    func scan() {
      let fresh = queue.fresh(of: [dropped])
      queue.update(fresh, settled: fresh)
    }
    scan()
    #expect(queue.next { _ in false }?.job == "new" && queue.isOver)
    queue.cancelled = ["r-old"]
    #expect(queue.nextCancelled { _ in false }?.job == "old" && !queue.isOver)
    scan()
    #expect(queue.next { _ in false }?.description == "old.txt")
  }
}
