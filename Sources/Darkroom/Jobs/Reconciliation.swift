import System

/// A live job, as far as it matters for what is to be done.
struct LiveJob: Equatable {
  /// As `JobRun.Phase`.
  enum Phase: Equatable {
    case planning(Planning)
    case waiting
    /// - Parameter isDone: Whether all rows are durable.
    case running(isDone: Bool)
    /// - Parameter isIdle: Whether nothing of it runs any more: what was not done is to be recorded.
    case closing(isIdle: Bool)
    /// - Parameter isIdle: Whether its report is to be delivered, and could not be before.
    case reporting(isIdle: Bool)
  }

  /// As `JobRun.Planning`.
  enum Planning: Equatable { case manifest, unlisted, list }

  let number: Int
  let name: String
  var phase: Phase

  /// The number that it had when it first became live: later ones of its name are of later manifests. Default: `number`.
  var order: Int

  /// When its planning or, since then, the work on its entries began, in seconds.
  let since: Double

  /// When an entry of it last started, in seconds.
  var lastStarted: Double

  /// When the report, or what comes before it, is tried again that could not be delivered, in seconds.
  var due = 0.0

  /// Whether nobody wants it any more: its manifest was removed from the inbox, or it is to be cancelled.
  var isUnwanted = false

  /// The manifest of the inbox that it processes, as long as another file of its name may take its place; nil when none may.
  var file: FileName?

  /// The number of the live job whose manifest its own is to replace.
  var replaces: Int?

  /// What becomes of its entries while they are worked on.
  var activity = RunEntries.Activity.busy

  init(number: Int, name: String, phase: Phase, since: Double, lastStarted: Double) {
    (self.number, self.name, self.phase, order) = (number, name, phase, number)
    (self.since, self.lastStarted) = (since, lastStarted)
  }

  /// Whether the list of its entries is downloaded, or is to be.
  var isFetching: Bool { phase == .planning(.unlisted) || phase == .planning(.list) }

  /// Whether it waits for a place.
  var waits: Bool { phase == .waiting || phase == .planning(.unlisted) }

  /// Whether its entries are worked on, or the list of them is.
  var isWorkedOn: Bool { phase == .running(isDone: false) || phase == .planning(.list) }
}

/// How many jobs may be live.
struct JobLimits: Equatable {
  /// A job that starts nothing for so long, in seconds, yields its place.
  static let idleTime = 5.0

  /// So does one that is live for so long.
  static let turnTime = 60.0

  /// Jobs whose entries are worked on; as many others are planned ahead.
  var places: Int

  /// All live jobs but those that rest, those included that have yielded their place.
  var live: Int

  /// All live jobs.
  var total: Int

  /// - Parameter total: Default: as many as `live`.
  init(places: Int, live: Int, total: Int? = nil) {
    self.places = places
    self.live = live
    self.total = total ?? live
  }
}

/// What is to be done about jobs.
enum JobAction: Equatable {
  /// A job becomes live: its planning starts.
  case start(JobPlanning.Source)
  /// A job's planning starts, whose manifest is to replace that of a live job.
  case startReplacement(JobPlanning.Source, of: Int)
  /// A planned manifest takes the place of that of a live job, which is superseded.
  case replace(Int, by: Int)
  /// What was to replace another job, which has ended meanwhile, is planned as a job of its own.
  case separate(Int)
  /// The work on the entries of a planned job begins.
  case begin(Int)
  /// What has not been done of the job is cancelled.
  case cancel(Int)
  /// What was not done of a cancelled or superseded job is recorded.
  case record(Int)
  /// The job's report is written and delivered.
  case finish(Int)
}

/// Compares what is wanted with what is live. It decides only: nothing is changed but the queue, from which it takes.
///
/// A job has a place while its entries are worked on, unless it has started nothing for 5 s or has had the place for 60 s:
/// it goes on, and another begins beside it. So a failing, held or huge job keeps no other waiting; nor does one whose
/// planning takes long. While the queues are suspended no job yields its place. A job that only waits, for deferred entries or
/// for its hosts, rests: it has no place, and hardly counts against the number of live jobs. Jobs are planned ahead, so that
/// one is ready when a place is free.
///
/// A job that nobody wants any more is cancelled as soon as it is planned, whether or not there is a place, and what is to be
/// cancelled is planned before everything else: nothing else keeps it waiting. What is done of it stays done.
/// - Parameters:
///   - live: In the order in which they became live.
///   - gate: What may start now.
///   - holds: The planning of which jobs is held. Default: of none.
///   - resumedAt: When the queues last resumed, in seconds.
func reconcile(
  wanted queue: inout JobQueue, live: [LiveJob], limits: JobLimits, gate: Gate = Gate(), holds: Holds = Holds(),
  now: Double, resumedAt: Double
) -> [JobAction] {
  let isPaused = gate.isPaused
  let held = live.filter { $0.hasPlace(now: now, isPaused: isPaused, resumedAt: resumedAt) }
  let done = live.filter {
    gate.mayReport && ($0.phase == .running(isDone: true) || $0.phase == .reporting(isIdle: true) && $0.due <= now)
  }
  let unrecorded = live.filter { gate.mayClose && $0.phase == .closing(isIdle: true) && $0.due <= now }
  let cancelled = live.filter {
    gate.mayCancel && $0.isUnwanted && !$0.isToReplace(live) && ($0.waits || $0.isWorkedOn)
  }
  let replaced = live.compactMap { $0.phase == .waiting ? $0.replaces : nil }
  let ready = live.filter { $0.waits && !$0.isUnwanted && $0.replaces == nil && !replaced.contains($0.number) }
  // The source of a replacement is downloaded beside the job that it replaces, which has the place.
  let sources = live.filter { gate.mayPlan && $0.phase == .planning(.unlisted) && $0.replaces != nil }
  let places = gate.mayPlan ? max(0, limits.places - held.count { $0.phase != .planning(.manifest) }) : 0
  let begun = ready.prefix(places) + sources
  var actions = done.map { JobAction.finish($0.number) } + unrecorded.map { JobAction.record($0.number) }
  actions += cancelled.map { JobAction.cancel($0.number) }
  actions += begun.map { .begin($0.number) } + replacements(live, gate)
  guard gate.mayPlan else { return actions }
  var names = Set(live.map(\.name))
  func isHeld(_ job: String) -> Bool { holds.isHeld(.planning(job), now: now) }
  func isTaken(_ job: String) -> Bool { names.contains(job) || isHeld(job) }
  var planned = ready.count - begun.count + sources.count + held.count { $0.phase == .planning(.manifest) }
  var count = live.count { !$0.rests(now: now, isPaused: isPaused, resumedAt: resumedAt) }
  var total = live.count
  while total < limits.total, let next = queue.nextCancelled(isLive: isTaken) {
    actions.append(.start(next))
    names.insert(next.job)
    total += 1
  }
  var files = queue.mayReplace ? replaceable(live) : [:]
  while total < limits.total, !files.isEmpty,
    let next = queue.nextReplacement(of: files, isLive: names.contains, isHeld: isHeld),
    let old = files.removeValue(forKey: next.file)
  {
    actions.append(.startReplacement(next.source, of: old.number))
    total += 1
  }
  while planned < limits.places, count < limits.live, total < limits.total,
    let next = queue.next(isLive: isTaken)
  {
    actions.append(.start(next))
    names.insert(next.job)
    planned += 1
    count += 1
    total += 1
  }
  return actions
}

/// What is to be done about jobs whose manifests are replaced. What replaces another begins when that has ended.
private func replacements(_ live: [LiveJob], _ gate: Gate) -> [JobAction] {
  live.compactMap { job in
    guard job.waits || job.isWorkedOn, let number = job.replaces else { return nil }
    if let old = live.first(where: { $0.number == number }) {
      return gate.mayClose && job.mayReplace(old) ? .replace(number, by: job.number) : nil
    }
    // An earlier one may be ending that what it was to replace had replaced.
    guard gate.mayPlan, job.phase == .waiting, !job.hasEarlierRun(in: live) else { return nil }
    return .separate(job.number)
  }
}

/// The live jobs whose manifests may be replaced, by their files: of a job with several runs the last that goes on, if it is
/// known that its manifest is not rejected.
private func replaceable(_ live: [LiveJob]) -> [FileName: LiveJob] {
  let last = Dictionary(
    live.lazy.filter(\.goesOn).map { ($0.name, $0) }, uniquingKeysWith: { $0.order < $1.order ? $1 : $0 })
  let jobs = last.values.filter { !$0.isUnwanted && ($0.waits || $0.isWorkedOn) }
  return Dictionary(jobs.compactMap { job in job.file.map { ($0, job) } }, uniquingKeysWith: { first, _ in first })
}

extension LiveJob {
  /// Whether entries of it start, or will, unless it is cancelled or replaced.
  fileprivate var goesOn: Bool {
    switch phase {
    case .planning, .waiting, .running: true
    case .closing, .reporting: false
    }
  }

  /// Whether it takes the place of a job now.
  fileprivate func mayReplace(_ old: LiveJob) -> Bool {
    guard !old.isUnwanted, old.waits || old.isWorkedOn else { return false }
    // No list is waited for, and no host is asked for one, that a later manifest makes needless.
    return old.isFetching || phase == .waiting
  }

  /// Whether there is a run of its job with an earlier manifest.
  fileprivate func hasEarlierRun(in live: [LiveJob]) -> Bool {
    live.contains { $0.order < order && $0.name == name }
  }

  fileprivate func hasPlace(now: Double, isPaused: Bool, resumedAt: Double) -> Bool {
    guard isWorkedOn || phase == .planning(.manifest) else { return false }
    if activity == .deferred || isUnwanted || isFetching && replaces != nil { return false }
    if isPaused { return true }
    return !isIdle(now, resumedAt) && now - max(since, resumedAt) < JobLimits.turnTime
  }

  /// Whether its manifest is to take the place of another one's. One that is being downloaded is not any more when that job
  /// has ended.
  fileprivate func isToReplace(_ live: [LiveJob]) -> Bool {
    guard let replaces else { return false }
    return !isFetching || live.contains { $0.number == replaces }
  }

  /// Whether it only waits: for deferred entries, or for hosts that take none.
  fileprivate func rests(now: Double, isPaused: Bool, resumedAt: Double) -> Bool {
    switch activity {
    case .busy: false
    case .idle: !isPaused && isIdle(now, resumedAt)
    case .deferred: true
    }
  }

  private func isIdle(_ now: Double, _ resumedAt: Double) -> Bool {
    isWorkedOn && now - max(lastStarted, resumedAt) >= JobLimits.idleTime
  }
}
