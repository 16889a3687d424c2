import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Inbox
@testable import Ledger
@testable import Model

@Suite struct RunSlotsTests {
  private static let limits = JobLimits(slots: 2, live: 4)
  private static let now = 1000.0

  /// A queue of jobs that an earlier process left.
  private static func queue(_ names: String...) throws -> JobQueue {
    var queue = JobQueue(
      goal: .watch,
      unfinished: try names.enumerated().map { (LedgerJob(runID: "r\($0)", name: $1, details: ""), try .sample()) })
    queue.update([], settled: [])
    return queue
  }

  private static func live(
    _ number: Int, _ phase: JobRun.SamplePhase = .works, since: Double = now, lastStarted: Double = now,
    file: String? = nil
  ) throws -> JobRun {
    try .sample(number, phase, name: "live \(number)", file: file, since: since, lastStarted: lastStarted)
  }

  /// What is done: names of jobs whose planning starts, numbers of those that begin and finish.
  private static func actions(
    _ queue: inout JobQueue, _ live: [JobRun], limits: JobLimits = limits, _ gate: Gate = Gate(),
    isPaused: Bool = false, resumedAt: Double = 0, holds: Holds = Holds(), activity: RunEntries.Activity = .busy,
    of waiting: ClosedRange<Int> = 1...1
  ) throws -> [String] {
    var table = RunTable(queue: queue)
    for run in live { table.runs[run.number] = run }
    var context = RunTable.Context(now: now, gate: gate, holds: holds)
    context.gate.isPaused = isPaused
    context.activity = { run, _ in waiting.contains(run) ? activity : .busy }
    defer { queue = table.queue }
    return table.actions(limits, resumedAt: resumedAt, context).map { action in
      switch action {
      case .start(let source): source.job
      case .begin(let number): "begin \(number)"
      case .startReplacement(let source, let number): "\(source.job) for \(number)"
      case .replace(let number, let successor): "replace \(number) by \(successor)"
      case .separate(let number): "separate \(number)"
      case .cancel(let number): "cancel \(number)"
      case .record(let number): "record \(number)"
      case .finish(let number): "finish \(number)"
      case .setAside(let number): "set aside \(number)"
      }
    }
  }

  @Test func `as many jobs are planned as there are places, in the order in which they are wanted`() throws {
    var queue = try Self.queue("a", "b", "c", "d")
    #expect(try Self.actions(&queue, []) == ["a", "b"])
    #expect(
      try Self.actions(&queue, [Self.live(1, .waiting), Self.live(2, .reading)], limits: Self.one) == ["begin 1"])
    #expect(try Self.actions(&queue, [Self.live(1), Self.live(2, .reading)]) == ["c"], "ahead of a free place")
    #expect(
      try Self.actions(&queue, [Self.live(1), Self.live(2, .waiting), Self.live(3, .reading)]) == ["begin 2", "d"])
    #expect(queue.isEmpty)
  }

  @Test func `planned jobs begin as places are free, the first first`() throws {
    var queue = try Self.queue()
    let ready = try (1...4).map { try Self.live($0, .waiting) }
    #expect(try Self.actions(&queue, ready) == ["begin 1", "begin 2"])
    #expect(try Self.actions(&queue, ready + [Self.live(5)]) == ["begin 1"])
    #expect(try Self.actions(&queue, ready + [Self.live(5), Self.live(6)]) == [])
  }

  private static let shortOfSpace = Gate(isShortOfSpace: true)

  @Test(arguments: [shortOfSpace, Gate(stop: .asked), Gate(stop: .outOfTime), Gate(wasRefused: true)])
  func `without room, and when the program ends, nothing starts or begins`(gate: Gate) throws {
    var queue = try Self.queue("a")
    #expect(try Self.actions(&queue, [Self.live(1, .waiting)], gate) == [])
    #expect(!queue.isEmpty)
  }

  @Test(arguments: [
    (Gate(), ["finish 1", "record 2", "cancel 3", "replace 5 by 6"]),
    (shortOfSpace, ["finish 1", "record 2", "cancel 3", "replace 5 by 6"]),
    (Gate(wasRefused: true), ["cancel 3"]), (Gate(stop: .asked), []), (Gate(stop: .outOfTime), ["finish 1"]),
  ])
  func `what ends does so as there is room for its rows, and when the program ends only reports are written`(
    gate: Gate, expected: [String]
  ) throws {
    var queue = try Self.queue()
    var (cancelled, new) = (try Self.live(3), try Self.live(6, .waiting))
    cancelled.known.unwanted = .removed
    new.replaces = 5
    let live = try [Self.live(1, .done), Self.live(2, .unrecorded), cancelled, Self.live(5), new]
    #expect(try Self.actions(&queue, live, limits: Self.one, gate) == expected)
  }

  @Test func `a job whose name is live waits, and the next goes past it`() throws {
    var queue = try Self.queue("live 1", "b", "b", "c")
    #expect(try Self.actions(&queue, [Self.live(1)], limits: JobLimits(slots: 9, live: 9)) == ["b", "c"])
    #expect(try Self.actions(&queue, [Self.live(1, .reports)]) == ["b"], "it is live until its report is there")
    #expect(try Self.actions(&queue, []) == ["live 1"])
  }

  private static let one = JobLimits(slots: 1, live: 9)

  @Test(arguments: [(4.9, 10.0, false), (5, 10, true), (0, 59.9, false), (0, 60, true)])
  func `a job that has started nothing for 5 s, or has been at it for 60 s, yields its place`(
    idle: Double, age: Double, yields: Bool
  ) throws {
    var queue = try Self.queue()
    let job = try Self.live(1, since: Self.now - age, lastStarted: Self.now - idle)
    let actions = try Self.actions(&queue, [job, Self.live(2, .waiting)], limits: Self.one)
    #expect(actions == (yields ? ["begin 2"] : []))
  }

  @Test func `a job that is planned for long keeps no other from being planned`() throws {
    var queue = try Self.queue("a")
    let planning = try Self.live(1, .reading, since: Self.now - 59, lastStarted: Self.now - 59)
    #expect(try Self.actions(&queue, [planning], limits: Self.one) == [])
    let longer = try Self.live(1, .reading, since: Self.now - 60, lastStarted: Self.now - 60)
    #expect(try Self.actions(&queue, [longer], limits: Self.one) == ["a"])
  }

  @Test func `no job yields its place while the queues are suspended, nor for the time of that`() throws {
    var queue = try Self.queue()
    let jobs = try [Self.live(1, since: 0, lastStarted: 0), Self.live(2, .waiting)]
    #expect(try Self.actions(&queue, jobs, limits: Self.one, isPaused: true) == [])
    #expect(try Self.actions(&queue, jobs, limits: Self.one, resumedAt: Self.now - 4.9) == [])
    #expect(try Self.actions(&queue, jobs, limits: Self.one, resumedAt: Self.now - 5) == ["begin 2"])
  }

  @Test func `jobs become live up to the live limit and no further`() throws {
    var queue = try Self.queue("a", "b", "c", "d", "e")
    let old = try (1...3).map { try Self.live($0, since: 0, lastStarted: 0) }
    #expect(try Self.actions(&queue, old) == ["a"])
    #expect(try Self.actions(&queue, old + [Self.live(4, .reports)]) == [])
    #expect(try Self.actions(&queue, old, limits: JobLimits(slots: 9, live: 3)) == [])
  }

  @Test(arguments: [false, true])
  func `a job that only waits for deferred entries or held hosts has no place, from the first moment, paused or not`(
    isPaused: Bool
  )
    throws
  {
    var queue = try Self.queue("a")
    let live = [try Self.live(1), try Self.live(2, .waiting)]
    let actions = try Self.actions(&queue, live, limits: Self.one, isPaused: isPaused, activity: .resting)
    #expect(actions == ["begin 2", "a"])
  }

  @Test func `jobs that only wait do not count against the live limit, up to four times as many`() throws {
    let limits = JobLimits(slots: 2, live: 2, total: 5)
    for (activity, idle, isStarted) in [
      (RunEntries.Activity.resting, 0.0, true), (.idle, 5, true), (.idle, 4.9, false), (.busy, 1000, false),
    ] {
      var queue = try Self.queue("a")
      let waiting = try (1...4).map { try Self.live($0, since: 0, lastStarted: Self.now - idle) }
      let actions = try Self.actions(&queue, waiting, limits: limits, activity: activity, of: 1...4)
      #expect(actions == (isStarted ? ["a"] : []), "\(activity) \(idle)")
      let more = try Self.actions(&queue, waiting + [try Self.live(5)], limits: limits, activity: activity, of: 1...4)
      #expect(more == [], "no more than that")
    }
  }

  @Test func `when too many jobs only wait, the first of them are set aside for others`() throws {
    let limits = JobLimits(slots: 2, live: 2, total: 4)
    let live = try (1...4).map { try Self.live($0) }
    var queue = try Self.queue("a", "b", "c")
    func actions(_ live: [JobRun], _ activity: RunEntries.Activity = .resting, of waiting: ClosedRange<Int> = 2...4)
      throws
      -> [String]
    {
      try Self.actions(&queue, live, limits: limits, activity: activity, of: waiting)
    }
    #expect(try actions(live) == ["set aside 2", "a"], "one slot is taken")
    #expect(try actions(live, of: 1...4) == ["set aside 1", "set aside 2", "b", "c"])
    #expect(try actions(live, of: 1...4) == [], "nothing wants to become live")
    for activity in [RunEntries.Activity.idle, .busy] {
      queue = try Self.queue("a")
      #expect(try actions(live, activity, of: 1...4) == [])
    }
  }

  @Test(arguments: [JobRun.SamplePhase.list, .waiting, .ends, .reports])
  func `only jobs whose entries are processed are set aside`(phase: JobRun.SamplePhase) throws {
    var queue = try Self.queue("a")
    let live = [try Self.live(1, phase), try Self.live(2)]
    let actions = try Self.actions(
      &queue, live, limits: JobLimits(slots: 9, live: 9, total: 2), activity: .resting, of: 1...2)
    #expect(actions.filter { !$0.hasPrefix("begin") } == ["set aside 2", "a"])
  }

  @Test func `what is cancelled, replaced, replaces or is being delivered is not set aside`() throws {
    var live = try (1...5).map { try Self.live($0) }
    live[0].known.unwanted = .removed
    live[1].entries?.undelivered = 1
    live[2].replaces = 4
    var queue = try Self.queue("a")
    let actions = try Self.actions(
      &queue, live, limits: JobLimits(slots: 9, live: 9, total: 5), activity: .resting, of: 1...5)
    #expect(actions.contains("set aside 5") && actions.count { $0.hasPrefix("set aside") } == 1)
  }

  @Test func `a job that is to be cancelled, or a replacement, becomes live in the place of one that only waits`()
    throws
  {
    let limits = JobLimits(slots: 1, live: 1, total: 2)
    var queue = try Self.queue("a")
    queue.cancelled = ["r0"]
    let live = [try Self.live(1), try Self.live(2, file: "a.txt")]
    #expect(try Self.actions(&queue, live, limits: limits, activity: .resting, of: 1...2) == ["set aside 1", "a"])
    let manifest = InboxScan.Manifest(file: "a.txt", job: "live 2", identity: .sample(size: 2))
    queue = JobQueue(goal: .watch, unfinished: [])
    queue.liveFiles = [FileName("a.txt")]
    queue.update(queue.fresh(of: [manifest]), settled: [manifest])
    #expect(
      try Self.actions(&queue, live, limits: limits, activity: .resting, of: 1...2) == ["set aside 1", "live 2 for 2"])
  }

  @Test(arguments: [false, true])
  func `what nobody wants is cancelled once it is planned and before it is done, paused or not, without a place`(
    isPaused: Bool
  ) throws {
    var queue = try Self.queue()
    let phases: [JobRun.SamplePhase] = [
      .reading, .waiting, .works, .done, .ends, .unrecorded, .unreported, .reports,
    ]
    let live = try phases.enumerated().map { number, phase in
      var job = try Self.live(number, phase)
      job.known.unwanted = .removed
      return job
    }
    let actions = try Self.actions(&queue, live, limits: JobLimits(slots: 0, live: 0), isPaused: isPaused)
    #expect(actions == ["finish 3", "finish 6", "record 5", "cancel 1", "cancel 2"])
    // It does not take the place of one that is wanted.
    #expect(try Self.actions(&queue, live + [Self.live(8, .waiting)], limits: Self.one).last == "begin 8")
  }

  @Test(arguments: [JobRun.SamplePhase.waiting, .works])
  func `a manifest takes the place of a live one's of its file once it is planned`(
    phase: JobRun.SamplePhase
  ) throws {
    let manifest = InboxScan.Manifest(file: "a.txt", job: "live 1", identity: .sample(size: 2))
    var queue = JobQueue(goal: .watch, unfinished: [])
    queue.liveFiles = [FileName("a.txt")]
    queue.update(queue.fresh(of: [manifest]), settled: [manifest])
    var old = try Self.live(1, phase)
    #expect(
      try Self.actions(&queue, [old], limits: Self.one).contains { $0.hasPrefix("live 1") } == false, "another file")
    old = try Self.live(1, phase, file: "a.txt")
    let busy = [old, try Self.live(2), try Self.live(3, .waiting)]
    #expect(try Self.actions(&queue, busy, limits: Self.one).last == "live 1 for 1")
    #expect(try Self.actions(&queue, busy, limits: Self.one).last != "live 1 for 1", "it is taken")
    var new = try JobRun.sample(4, .reading, name: "live 1", replacing: 1)
    queue.update(queue.fresh(of: [manifest]), settled: [manifest])
    #expect(try Self.actions(&queue, [old, new], limits: Self.one, Self.shortOfSpace) == [], "one at a time")
    try new.enter(.waiting)
    #expect(
      try Self.actions(&queue, [old, new, Self.live(5)], limits: Self.one) == ["replace 1 by 4"], "without a place")
    #expect(try Self.actions(&queue, [old, new], limits: JobLimits(slots: 2, live: 9)) == ["replace 1 by 4"])
    for ended in [JobRun.SamplePhase.done, .reports, .ends, .unrecorded] {
      try old.enter(ended)
      let actions = try Self.actions(&queue, [old, new], limits: JobLimits(slots: 0, live: 9))
      #expect(!actions.contains { $0.contains("4") }, "it waits for the end of that")
    }
    #expect(try Self.actions(&queue, [new], limits: JobLimits(slots: 0, live: 9)) == ["separate 4"])
  }

  @Test func `a replaced job ends, then what replaces it is planned again, and begins`() throws {
    var queue = try Self.queue()
    func actions(_ old: JobRun.SamplePhase?, _ new: JobRun.SamplePhase, replacing: Int? = 1) throws -> [String] {
      let runs = try old.map { [try Self.run(1, $0)] } ?? []
      return try Self.actions(&queue, runs + [try Self.run(2, new, replacing: replacing)], limits: Self.one)
    }
    #expect(try actions(.works, .waiting) == ["replace 1 by 2"])
    for phase in [JobRun.SamplePhase.ends, .reports] { #expect(try actions(phase, .waiting) == []) }
    #expect(try actions(.unrecorded, .waiting) == ["record 1"])
    #expect(try actions(.unreported, .waiting) == ["finish 1"])
    #expect(try actions(nil, .waiting) == ["separate 2"])
    #expect(try actions(nil, .reading, replacing: nil) == [])
    #expect(try actions(nil, .waiting, replacing: nil) == ["begin 2"])
  }

  @Test func `of several manifests that wait for the end of a replaced job the newest counts`() throws {
    let (old, waiting) = (try Self.run(1, .ends), try Self.run(2, .waiting, replacing: 1))
    #expect(try Self.actions(dropping: old, waiting) == ["job for 2"])
    #expect(try Self.actions(dropping: old, waiting, Self.run(3, .reading, replacing: 2)) == [], "it may be rejected")
    #expect(try Self.actions(dropping: old, waiting, Self.run(3, .waiting, replacing: 2)).first == "replace 2 by 3")
    // What has not begun leaves nothing, and then the last one waits for the first.
    #expect(
      try Self.actions(dropping: old, Self.run(2, .ends), Self.run(3, .waiting, replacing: 2)) == ["job for 3"])
    #expect(try Self.actions(dropping: old, Self.run(3, .waiting, replacing: 1)) == ["job for 3"])
  }

  @Test func `a job that waits after trouble takes no other's place before it is due`() throws {
    let job = LedgerJob(runID: "r", name: "live 1", details: try JobManifest.sample(inboxPath: "/in/job.txt").text)
    var queue = JobQueue(goal: .watch, unfinished: [(job, try .sample())])
    queue.update([], settled: [])
    let file = try #require(job.replacedFile)
    var holds = Holds()
    holds.hold(.planning(ByteKey(job.name)), "", now: Self.now)
    for (time, isTaken) in [(Self.now, false), (Self.now + 3600, true)] {
      let next = queue.nextReplacement(
        of: [file: try Self.live(1)], isLive: { _ in true }, isHeld: { holds.isHeld(.planning(ByteKey($0)), now: time) }
      )
      #expect((next != nil) == isTaken)
    }
  }

  @Test(arguments: [(nil, true), (2, true), (4, false)])
  func `no job that waits after trouble takes the place of a later one of its name`(order: Int?, isTaken: Bool) throws {
    let job = LedgerJob(runID: "r", name: "live 3", details: try JobManifest.sample(inboxPath: "/in/job.txt").text)
    var queue = JobQueue(goal: .watch, unfinished: [])
    queue.update([], settled: [])
    queue.retry(.unfinished(job), order: 3)
    let file = try #require(job.replacedFile)
    // It may have been planned again under another number.
    var live = try Self.live(9)
    live.known.order = order ?? 1
    #expect((queue.nextReplacement(of: [file: live], isLive: { _ in true }) != nil) == isTaken)
  }

  @Test(arguments: [LedgerJob.State.accepted, .finishing])
  func `a manifest waits for what an earlier process has accepted of its job, not for what has ended`(
    state: LedgerJob.State
  ) throws {
    let manifest = InboxScan.Manifest(file: "job.txt", job: "live 1", identity: .sample(size: 2))
    let details = try JobManifest.sample(inboxPath: "/in/job.txt").text
    let job = LedgerJob(runID: "r", name: "live 1", state: state, details: details)
    var queue = JobQueue(goal: .watch, unfinished: [(job, try .sample())])
    queue.liveFiles = [manifest.key]
    queue.update(queue.fresh(of: [manifest]), settled: [manifest])
    let files = [manifest.key: try Self.live(1)]
    let isFirst = state != .accepted
    #expect((queue.nextReplacement(of: files, isLive: { _ in true })?.source == .unfinished(job)) != isFirst)
    if !isFirst { #expect(queue.nextReplacement(of: files, isLive: { _ in true })?.file == manifest.key) }
  }

  @Test func `rows that could not be written are tried again when that is due`() throws {
    var queue = try Self.queue()
    let run = try Self.live(1, .unrecorded)
    var holds = Holds()
    holds.hold(.ending(1), "", now: Self.now)
    #expect(try Self.actions(&queue, [run], holds: holds) == [])
    holds = Holds()
    holds.hold(.ending(1), "", latest: Self.now, now: Self.now)
    #expect(try Self.actions(&queue, [run], holds: holds) == ["record 1"])
  }

  @Test func `what is to be cancelled becomes live before everything else, and without a place`() throws {
    var queue = try Self.queue("a", "b", "c", "live 1")
    queue.cancelled = ["r2", "r3"]
    let full = try [Self.live(1), Self.live(2), Self.live(3, .waiting), Self.live(4, .waiting)]
    let limits = JobLimits(slots: 2, live: 4, total: 9)
    #expect(try Self.actions(&queue, full, limits: limits) == ["c"], "another run of the job is live")
    #expect(try Self.actions(&queue, full, limits: limits) == [])
    queue.cancelled = ["r1"]
    #expect(try Self.actions(&queue, full, limits: JobLimits(slots: 1, live: 4, total: 9), Self.shortOfSpace) == [])
    #expect(try Self.actions(&queue, [], limits: JobLimits(slots: 1, live: 1)) == ["b"])
  }

  @Test(arguments: [JobRun.SamplePhase.done, .unreported, .reports])
  func `a job all of whose rows are there holds no place, paused or not`(phase: JobRun.SamplePhase) throws {
    for isPaused in [false, true] {
      var queue = try Self.queue()
      let jobs = try [Self.live(1, phase), Self.live(2, phase), Self.live(3, .waiting), Self.live(4, .waiting)]
      let begun = try Self.actions(&queue, jobs, isPaused: isPaused).filter { !$0.hasPrefix("finish") }
      #expect(begun == ["begin 3", "begin 4"])
    }
  }

  @Test func `reports are written of jobs that are done, or whose report could not be delivered, and of no others`()
    throws
  {
    var queue = try Self.queue()
    let phases: [JobRun.SamplePhase] = [.reading, .works, .done, .unreported, .reports, .done]
    let live = try phases.enumerated().map { try Self.live($0.offset, $0.element) }
    #expect(
      try Self.actions(&queue, live, limits: JobLimits(slots: 0, live: 0)) == ["finish 2", "finish 3", "finish 5"])
  }

  /// A job whose source is to be downloaded.
  private static func source(
    _ number: Int, _ phase: JobRun.SamplePhase = .unlisted, replacing old: Int? = nil
  ) throws -> JobRun {
    try .sample(number, phase, name: "live \(number)", since: now, lastStarted: now, replacing: old)
  }

  @Test func `a source is downloaded in a place, but that of a replacement beside what it replaces`() throws {
    var queue = try Self.queue()
    #expect(try Self.actions(&queue, [Self.live(1), Self.source(2)], limits: Self.one) == [])
    #expect(try Self.actions(&queue, [Self.source(1), Self.source(2)], limits: Self.one) == ["begin 1"])
    #expect(try Self.actions(&queue, [Self.source(1, .list), Self.live(2, .waiting)], limits: Self.one) == [])
    #expect(try Self.actions(&queue, [Self.live(1), Self.source(2, replacing: 1)], limits: Self.one) == ["begin 2"])
    let beside = try [Self.source(2, .list, replacing: 9), Self.live(3, .waiting)]
    #expect(try Self.actions(&queue, beside, limits: Self.one) == ["begin 3"], "it has no place")
    #expect(try Self.actions(&queue, [Self.source(2, replacing: 1)], Self.shortOfSpace) == [])
  }

  @Test func `a source that nobody wants any more is cancelled, once what it was to replace has ended`() throws {
    var queue = try Self.queue()
    var job = try Self.source(2, .list)
    job.known.unwanted = .removed
    #expect(try Self.actions(&queue, [job]) == ["cancel 2"])
    job.replaces = 1
    #expect(try Self.actions(&queue, [Self.live(1, .ends), job]) == [])
    #expect(try Self.actions(&queue, [job]) == ["cancel 2"])
    #expect(try Self.actions(&queue, [Self.source(2, .unrecorded)]) == ["record 2"])
  }

  @Test func `a manifest takes the place of one whose source is downloaded, when it is planned itself`() throws {
    var queue = try Self.queue()
    let old = try Self.source(1, .list)
    var new = try Self.live(2, .waiting)
    new.replaces = 1
    #expect(try Self.actions(&queue, [old, new]) == ["replace 1 by 2"])
    let list = [old, try Self.source(2, .list, replacing: 1)]
    #expect(try Self.actions(&queue, list) == ["replace 1 by 2"], "as soon as it is known that it has a source")
    #expect(try Self.actions(&queue, [Self.source(1, .ends), new]) == [])
    #expect(try Self.actions(&queue, [new]) == ["separate 2"])
  }

  /// Whether the inbox's next manifest replaces one of these jobs, and what else is done.
  private static func actions(dropping live: JobRun...) throws -> [String] {
    let manifest = InboxScan.Manifest(file: "a.json", job: "job", identity: .sample(size: 2))
    var queue = JobQueue(goal: .watch, unfinished: [])
    queue.liveFiles = [manifest.key]
    queue.update(queue.fresh(of: [manifest]), settled: [manifest])
    return try actions(&queue, live, limits: one)
  }

  private static func run(
    _ number: Int, _ phase: JobRun.SamplePhase = .works, replacing old: Int? = nil
  ) throws -> JobRun {
    try .sample(number, phase, file: "a.json", since: now, lastStarted: now, replacing: old)
  }

  @Test func `a third manifest is planned while the list of the second is downloaded, and takes its place`() throws {
    let (first, list) = (try Self.run(1), try Self.run(2, .list, replacing: 1))
    #expect(try Self.actions(dropping: first, list) == ["job for 2"])
    #expect(try Self.actions(dropping: Self.run(1, .ends), list) == ["job for 2"])
    #expect(try Self.actions(dropping: list) == ["job for 2"], "when the first has ended")
    #expect(try Self.actions(dropping: first, list, Self.run(3, .reading, replacing: 2)) == [], "it may be rejected")
    #expect(
      try Self.actions(dropping: first, list, Self.run(3, .waiting, replacing: 2)) == ["replace 2 by 3", "job for 3"])
    #expect(try Self.actions(dropping: first, list, Self.run(3, .reports, replacing: 2)) == ["job for 2"])
    var second = try Self.run(2, .unrecorded, replacing: 1)
    guard case .closing(var closing) = second.phase else { return #expect(Bool(false)) }
    (closing.isSuperseded, closing.hasBegun) = (true, false)
    second.phase = .closing(closing)
    #expect(try Self.actions(dropping: first, second, Self.run(3, .waiting, replacing: 2)).first == "record 2")
    #expect(try Self.actions(dropping: first, Self.run(3, .waiting, replacing: 1)).first == "replace 1 by 3")
  }

  @Test func `the next list is downloaded in the place of the one before it, so that there are never many`() throws {
    let (first, second) = (try Self.run(1), try Self.run(2, .list, replacing: 1))
    let third = try Self.run(3, .unlisted, replacing: 2)
    #expect(try Self.actions(dropping: first, second, third) == ["begin 3", "replace 2 by 3", "job for 3"])
    #expect(
      try Self.actions(dropping: first, second, Self.run(3, .list, replacing: 2)) == [
        "replace 2 by 3", "job for 3",
      ])
    let begun = try Self.run(3, .list, replacing: 1)
    #expect(try Self.actions(dropping: first, Self.run(2, .reports), begun) == ["job for 3"])
    // A list that has come first is worked on until there is the next.
    #expect(
      try Self.actions(dropping: first, Self.run(2, .waiting, replacing: 1), third) == [
        "begin 3", "replace 1 by 2", "job for 3",
      ])
    #expect(try Self.actions(dropping: Self.run(2), Self.run(3, .waiting, replacing: 2)).first == "replace 2 by 3")
  }

  @Test func `never do two runs of a job go on, whatever is wanted and in which order it is planned`() throws {
    // Another job has the only place.
    let (first, second) = (try Self.run(1, .waiting), try Self.run(2, .waiting, replacing: 1))
    let third = try Self.run(3, .waiting, replacing: 2)
    let actions = try Self.actions(dropping: Self.live(9), first, second, third)
    #expect(actions == ["replace 1 by 2", "replace 2 by 3", "job for 3"])
    // What it was to replace has ended; something of the one before that is in progress.
    #expect(try Self.actions(dropping: Self.run(1, .ends), third) == ["job for 3"])
    #expect(try Self.actions(dropping: third) == ["separate 3", "job for 3"])
  }
}
