import System
import TestSupport
import Testing

@testable import Darkroom
@testable import Ledger

@Suite struct ReconciliationTests {
  private static let limits = JobLimits(places: 2, live: 4)
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
    _ number: Int, _ phase: LiveJob.Phase = .works, since: Double = now, lastStarted: Double = now
  ) -> LiveJob {
    LiveJob(number: number, name: "live \(number)", phase: phase, since: since, lastStarted: lastStarted)
  }

  /// What is done: names of jobs whose planning starts, numbers of those that begin and finish.
  private static func actions(
    _ queue: inout JobQueue, _ live: [LiveJob], limits: JobLimits = limits, _ gate: Gate = Gate(),
    isPaused: Bool = false, resumedAt: Double = 0
  ) -> [String] {
    var gate = gate
    gate.isPaused = isPaused
    return reconcile(
      wanted: &queue, live: live, limits: limits, gate: gate, now: now, resumedAt: resumedAt
    ).map { action in
      switch action {
      case .start(let source): source.job
      case .begin(let number): "begin \(number)"
      case .startReplacement(let source, let number): "\(source.job) for \(number)"
      case .replace(let number, let successor): "replace \(number) by \(successor)"
      case .separate(let number): "separate \(number)"
      case .cancel(let number): "cancel \(number)"
      case .record(let number): "record \(number)"
      case .finish(let number): "finish \(number)"
      }
    }
  }

  @Test func `as many jobs are planned as there are places, in the order in which they are wanted`() throws {
    var queue = try Self.queue("a", "b", "c", "d")
    #expect(Self.actions(&queue, []) == ["a", "b"])
    #expect(Self.actions(&queue, [Self.live(1, .waiting), Self.live(2, .reading)], limits: Self.one) == ["begin 1"])
    #expect(Self.actions(&queue, [Self.live(1), Self.live(2, .reading)]) == ["c"], "ahead of a free place")
    #expect(Self.actions(&queue, [Self.live(1), Self.live(2, .waiting), Self.live(3, .reading)]) == ["begin 2", "d"])
    #expect(queue.isEmpty)
  }

  @Test func `planned jobs begin as places are free, the first first`() throws {
    var queue = try Self.queue()
    let ready = (1...4).map { Self.live($0, .waiting) }
    #expect(Self.actions(&queue, ready) == ["begin 1", "begin 2"])
    #expect(Self.actions(&queue, ready + [Self.live(5)]) == ["begin 1"])
    #expect(Self.actions(&queue, ready + [Self.live(5), Self.live(6)]) == [])
  }

  private static let shortOfSpace = Gate(isShortOfSpace: true)

  @Test(arguments: [shortOfSpace, Gate(stop: .asked), Gate(stop: .outOfTime), Gate(wasRefused: true)])
  func `without room, and when the program ends, nothing starts or begins`(gate: Gate) throws {
    var queue = try Self.queue("a")
    #expect(Self.actions(&queue, [Self.live(1, .waiting)], gate) == [])
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
    var (cancelled, new) = (Self.live(3), Self.live(6, .waiting))
    cancelled.isUnwanted = true
    new.replaces = 5
    let live = [Self.live(1, .done), Self.live(2, .unrecorded), cancelled, Self.live(5), new]
    #expect(Self.actions(&queue, live, limits: Self.one, gate) == expected)
  }

  @Test func `a job whose name is live waits, and the next goes past it`() throws {
    var queue = try Self.queue("live 1", "b", "b", "c")
    #expect(Self.actions(&queue, [Self.live(1)], limits: JobLimits(places: 9, live: 9)) == ["b", "c"])
    #expect(Self.actions(&queue, [Self.live(1, .reports)]) == ["b"], "it is live until its report is there")
    #expect(Self.actions(&queue, []) == ["live 1"])
  }

  private static let one = JobLimits(places: 1, live: 9)

  @Test(arguments: [(4.9, 10.0, false), (5, 10, true), (0, 59.9, false), (0, 60, true)])
  func `a job that has started nothing for 5 s, or has been at it for 60 s, yields its place`(
    idle: Double, age: Double, yields: Bool
  ) throws {
    var queue = try Self.queue()
    let job = Self.live(1, since: Self.now - age, lastStarted: Self.now - idle)
    let actions = Self.actions(&queue, [job, Self.live(2, .waiting)], limits: Self.one)
    #expect(actions == (yields ? ["begin 2"] : []))
  }

  @Test func `a job that is planned for long keeps no other from being planned`() throws {
    var queue = try Self.queue("a")
    let planning = Self.live(1, .reading, since: Self.now - 59, lastStarted: Self.now - 59)
    #expect(Self.actions(&queue, [planning], limits: Self.one) == [])
    let longer = Self.live(1, .reading, since: Self.now - 60, lastStarted: Self.now - 60)
    #expect(Self.actions(&queue, [longer], limits: Self.one) == ["a"])
  }

  @Test func `no job yields its place while the queues are suspended, nor for the time of that`() throws {
    var queue = try Self.queue()
    let jobs = [Self.live(1, since: 0, lastStarted: 0), Self.live(2, .waiting)]
    #expect(Self.actions(&queue, jobs, limits: Self.one, isPaused: true) == [])
    #expect(Self.actions(&queue, jobs, limits: Self.one, resumedAt: Self.now - 4.9) == [])
    #expect(Self.actions(&queue, jobs, limits: Self.one, resumedAt: Self.now - 5) == ["begin 2"])
  }

  @Test func `jobs become live up to the live limit and no further`() throws {
    var queue = try Self.queue("a", "b", "c", "d", "e")
    let old = (1...3).map { Self.live($0, since: 0, lastStarted: 0) }
    #expect(Self.actions(&queue, old) == ["a"])
    #expect(Self.actions(&queue, old + [Self.live(4, .reports)]) == [])
    #expect(Self.actions(&queue, old, limits: JobLimits(places: 9, live: 3)) == [])
  }

  @Test(arguments: [false, true])
  func `a job that only has deferred entries holds no place, from the first moment, paused or not`(isPaused: Bool)
    throws
  {
    var queue = try Self.queue("a")
    var deferred = Self.live(1)
    deferred.activity = .deferred
    #expect(
      Self.actions(&queue, [deferred, Self.live(2, .waiting)], limits: Self.one, isPaused: isPaused) == [
        "begin 2", "a",
      ])
  }

  @Test func `jobs that only wait do not count against the live limit, up to four times as many`() throws {
    let limits = JobLimits(places: 2, live: 2, total: 5)
    for (activity, idle, isStarted) in [
      (RunEntries.Activity.deferred, 0.0, true), (.idle, 5, true), (.idle, 4.9, false), (.busy, 1000, false),
    ] {
      var queue = try Self.queue("a")
      let waiting = (1...4).map { number in
        var job = Self.live(number, since: 0, lastStarted: Self.now - idle)
        job.activity = activity
        return job
      }
      #expect(Self.actions(&queue, waiting, limits: limits) == (isStarted ? ["a"] : []), "\(activity) \(idle)")
      #expect(Self.actions(&queue, waiting + [Self.live(5)], limits: limits) == [], "no more than that")
    }
  }

  @Test(arguments: [false, true])
  func `what nobody wants is cancelled once it is planned and before it is done, paused or not, without a place`(
    isPaused: Bool
  ) throws {
    var queue = try Self.queue()
    let phases: [LiveJob.Phase] = [
      .reading, .waiting, .works, .done, .ends, .unrecorded, .unreported, .reports,
    ]
    let live = phases.enumerated().map { number, phase in
      var job = Self.live(number, phase)
      job.isUnwanted = true
      return job
    }
    let actions = Self.actions(&queue, live, limits: JobLimits(places: 0, live: 0), isPaused: isPaused)
    #expect(actions == ["finish 3", "finish 6", "record 5", "cancel 1", "cancel 2"])
    // It does not take the place of one that is wanted.
    #expect(Self.actions(&queue, live + [Self.live(8, .waiting)], limits: Self.one).last == "begin 8")
  }

  @Test(arguments: [LiveJob.Phase.waiting, .works])
  func `a manifest takes the place of a live one's of its file once it is planned`(
    phase: LiveJob.Phase
  ) throws {
    let manifest = InboxScan.Manifest(file: "a.txt", job: "live 1", identity: .sample(size: 2))
    var queue = JobQueue(goal: .watch, unfinished: [])
    queue.liveFiles = [FileName("a.txt")]
    queue.update(queue.fresh(of: [manifest]), settled: [manifest])
    var old = Self.live(1, phase)
    #expect(Self.actions(&queue, [old], limits: Self.one).contains { $0.hasPrefix("live 1") } == false, "another file")
    old.file = FileName("a.txt")
    let busy = [old, Self.live(2), Self.live(3, .waiting)]
    #expect(Self.actions(&queue, busy, limits: Self.one).last == "live 1 for 1")
    #expect(Self.actions(&queue, busy, limits: Self.one).last != "live 1 for 1", "it is taken")
    var new = LiveJob(number: 4, name: "live 1", phase: .reading, since: 0, lastStarted: 0)
    new.replaces = 1
    queue.update(queue.fresh(of: [manifest]), settled: [manifest])
    #expect(Self.actions(&queue, [old, new], limits: Self.one, Self.shortOfSpace) == [], "one at a time")
    new.phase = .waiting
    #expect(Self.actions(&queue, [old, new, Self.live(5)], limits: Self.one) == ["replace 1 by 4"], "without a place")
    #expect(Self.actions(&queue, [old, new], limits: JobLimits(places: 2, live: 9)) == ["replace 1 by 4"])
    for ended in [LiveJob.Phase.done, .reports, .ends, .unrecorded] {
      old.phase = ended
      let actions = Self.actions(&queue, [old, new], limits: JobLimits(places: 0, live: 9))
      #expect(!actions.contains { $0.contains("4") }, "it waits for the end of that")
    }
    #expect(Self.actions(&queue, [new], limits: JobLimits(places: 0, live: 9)) == ["separate 4"])
  }

  @Test func `a replaced job ends, then what replaces it is planned again, and begins`() throws {
    var queue = try Self.queue()
    func actions(_ old: LiveJob.Phase?, _ new: LiveJob.Phase, replacing: Int? = 1) -> [String] {
      let runs = old.map { [Self.run(1, $0)] } ?? []
      return Self.actions(&queue, runs + [Self.run(2, new, replacing: replacing)], limits: Self.one)
    }
    #expect(actions(.works, .waiting) == ["replace 1 by 2"])
    for phase in [LiveJob.Phase.ends, .reports] { #expect(actions(phase, .waiting) == []) }
    #expect(actions(.unrecorded, .waiting) == ["record 1"])
    #expect(actions(.unreported, .waiting) == ["finish 1"])
    #expect(actions(nil, .waiting) == ["separate 2"])
    #expect(actions(nil, .reading, replacing: nil) == [])
    #expect(actions(nil, .waiting, replacing: nil) == ["begin 2"])
  }

  @Test func `of several manifests that wait for the end of a replaced job the newest counts`() throws {
    let (old, waiting) = (Self.run(1, .ends), Self.run(2, .waiting, replacing: 1))
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
    holds.hold(.planning(job.name), "", now: Self.now)
    for (time, isTaken) in [(Self.now, false), (Self.now + 3600, true)] {
      let next = queue.nextReplacement(
        of: [file: Self.live(1)], isLive: { _ in true }, isHeld: { holds.isHeld(.planning($0), now: time) })
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
    var live = Self.live(9)
    live.order = order ?? 1
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
    let files = [manifest.key: Self.live(1)]
    let isFirst = state != .accepted
    #expect((queue.nextReplacement(of: files, isLive: { _ in true })?.source == .unfinished(job)) != isFirst)
    if !isFirst { #expect(queue.nextReplacement(of: files, isLive: { _ in true })?.file == manifest.key) }
  }

  @Test func `rows that could not be written are tried again when that is due`() throws {
    var queue = try Self.queue()
    var job = Self.live(1, .unrecorded)
    job.due = Self.now + 1
    #expect(Self.actions(&queue, [job]) == [])
    job.due = Self.now
    #expect(Self.actions(&queue, [job]) == ["record 1"])
  }

  @Test func `what is to be cancelled becomes live before everything else, and without a place`() throws {
    var queue = try Self.queue("a", "b", "c", "live 1")
    queue.cancelled = ["r2", "r3"]
    let full = [Self.live(1), Self.live(2), Self.live(3, .waiting), Self.live(4, .waiting)]
    let limits = JobLimits(places: 2, live: 4, total: 9)
    #expect(Self.actions(&queue, full, limits: limits) == ["c"], "another run of the job is live")
    #expect(Self.actions(&queue, full, limits: limits) == [])
    queue.cancelled = ["r1"]
    #expect(Self.actions(&queue, full, limits: JobLimits(places: 1, live: 4, total: 9), Self.shortOfSpace) == [])
    #expect(Self.actions(&queue, [], limits: JobLimits(places: 1, live: 1)) == ["b"])
  }

  @Test(arguments: [LiveJob.Phase.done, .unreported, .reports])
  func `a job all of whose rows are there holds no place, paused or not`(phase: LiveJob.Phase) throws {
    for isPaused in [false, true] {
      var queue = try Self.queue()
      let jobs = [Self.live(1, phase), Self.live(2, phase), Self.live(3, .waiting), Self.live(4, .waiting)]
      let begun = Self.actions(&queue, jobs, isPaused: isPaused).filter { !$0.hasPrefix("finish") }
      #expect(begun == ["begin 3", "begin 4"])
    }
  }

  @Test func `reports are written of jobs that are done, or whose report could not be delivered, and of no others`()
    throws
  {
    var queue = try Self.queue()
    let phases: [LiveJob.Phase] = [.reading, .works, .done, .unreported, .reports, .done]
    let live = phases.enumerated().map { Self.live($0.offset, $0.element) }
    #expect(Self.actions(&queue, live, limits: JobLimits(places: 0, live: 0)) == ["finish 2", "finish 3", "finish 5"])
  }

  /// A job whose source is to be downloaded.
  private static func source(
    _ number: Int, _ phase: LiveJob.Phase = .planning(.unlisted), replacing old: Int? = nil
  ) -> LiveJob {
    var job = live(number, phase)
    job.replaces = old
    return job
  }

  @Test func `a source is downloaded in a place, but that of a replacement beside what it replaces`() throws {
    var queue = try Self.queue()
    #expect(Self.actions(&queue, [Self.live(1), Self.source(2)], limits: Self.one) == [])
    #expect(Self.actions(&queue, [Self.source(1), Self.source(2)], limits: Self.one) == ["begin 1"])
    #expect(Self.actions(&queue, [Self.source(1, .planning(.list)), Self.live(2, .waiting)], limits: Self.one) == [])
    #expect(Self.actions(&queue, [Self.live(1), Self.source(2, replacing: 1)], limits: Self.one) == ["begin 2"])
    let beside = [Self.source(2, .planning(.list), replacing: 9), Self.live(3, .waiting)]
    #expect(Self.actions(&queue, beside, limits: Self.one) == ["begin 3"], "it has no place")
    #expect(Self.actions(&queue, [Self.source(2, replacing: 1)], Self.shortOfSpace) == [])
  }

  @Test func `a source that nobody wants any more is cancelled, once what it was to replace has ended`() throws {
    var queue = try Self.queue()
    var job = Self.source(2, .planning(.list))
    job.isUnwanted = true
    #expect(Self.actions(&queue, [job]) == ["cancel 2"])
    job.replaces = 1
    #expect(Self.actions(&queue, [Self.live(1, .ends), job]) == [])
    #expect(Self.actions(&queue, [job]) == ["cancel 2"])
    #expect(Self.actions(&queue, [Self.source(2, .unrecorded)]) == ["record 2"])
  }

  @Test func `a manifest takes the place of one whose source is downloaded, when it is planned itself`() throws {
    var queue = try Self.queue()
    var old = Self.source(1, .planning(.list))
    old.file = FileName("a.json")
    var new = Self.live(2, .waiting)
    new.replaces = 1
    #expect(Self.actions(&queue, [old, new]) == ["replace 1 by 2"])
    let list = [old, Self.source(2, .planning(.list), replacing: 1)]
    #expect(Self.actions(&queue, list) == ["replace 1 by 2"], "as soon as it is known that it has a source")
    #expect(Self.actions(&queue, [Self.source(1, .ends), new]) == [])
    #expect(Self.actions(&queue, [new]) == ["separate 2"])
  }

  /// Whether the inbox's next manifest replaces one of these jobs, and what else is done.
  private static func actions(dropping live: LiveJob...) throws -> [String] {
    let manifest = InboxScan.Manifest(file: "a.json", job: "job", identity: .sample(size: 2))
    var queue = JobQueue(goal: .watch, unfinished: [])
    queue.liveFiles = [manifest.key]
    queue.update(queue.fresh(of: [manifest]), settled: [manifest])
    return actions(&queue, live, limits: one)
  }

  private static func run(
    _ number: Int, _ phase: LiveJob.Phase = .works, replacing old: Int? = nil
  ) -> LiveJob {
    var job = LiveJob(number: number, name: "job", phase: phase, since: now, lastStarted: now)
    (job.replaces, job.file) = (old, FileName("a.json"))
    return job
  }

  @Test func `a third manifest is planned while the list of the second is downloaded, and takes its place`() throws {
    let (first, list) = (Self.run(1), Self.run(2, .planning(.list), replacing: 1))
    #expect(try Self.actions(dropping: first, list) == ["job for 2"])
    #expect(try Self.actions(dropping: Self.run(1, .ends), list) == ["job for 2"])
    #expect(try Self.actions(dropping: list) == ["job for 2"], "when the first has ended")
    #expect(try Self.actions(dropping: first, list, Self.run(3, .reading, replacing: 2)) == [], "it may be rejected")
    #expect(
      try Self.actions(dropping: first, list, Self.run(3, .waiting, replacing: 2)) == ["replace 2 by 3", "job for 3"])
    #expect(try Self.actions(dropping: first, list, Self.run(3, .reports, replacing: 2)) == ["job for 2"])
    let second = Self.run(2, .unrecorded, replacing: 1)
    #expect(try Self.actions(dropping: first, second, Self.run(3, .waiting, replacing: 2)).first == "record 2")
    #expect(try Self.actions(dropping: first, Self.run(3, .waiting, replacing: 1)).first == "replace 1 by 3")
  }

  @Test func `the next list is downloaded in the place of the one before it, so that there are never many`() throws {
    let (first, second) = (Self.run(1), Self.run(2, .planning(.list), replacing: 1))
    let third = Self.run(3, .planning(.unlisted), replacing: 2)
    #expect(try Self.actions(dropping: first, second, third) == ["begin 3", "replace 2 by 3", "job for 3"])
    #expect(
      try Self.actions(dropping: first, second, Self.run(3, .planning(.list), replacing: 2)) == [
        "replace 2 by 3", "job for 3",
      ])
    let begun = Self.run(3, .planning(.list), replacing: 1)
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
    let (first, second) = (Self.run(1, .waiting), Self.run(2, .waiting, replacing: 1))
    let third = Self.run(3, .waiting, replacing: 2)
    let actions = try Self.actions(dropping: Self.live(9), first, second, third)
    #expect(actions == ["replace 1 by 2", "replace 2 by 3", "job for 3"])
    // What it was to replace has ended; something of the one before that is in progress.
    #expect(try Self.actions(dropping: Self.run(1, .ends), third) == ["job for 3"])
    #expect(try Self.actions(dropping: third) == ["separate 3", "job for 3"])
  }
}

extension LiveJob.Phase {
  static var reading: Self { .planning(.manifest) }
  static var works: Self { .running(isDone: false) }
  static var done: Self { .running(isDone: true) }
  static var ends: Self { .closing(isIdle: false) }
  static var unrecorded: Self { .closing(isIdle: true) }
  static var reports: Self { .reporting(isIdle: false) }
  static var unreported: Self { .reporting(isIdle: true) }
}
