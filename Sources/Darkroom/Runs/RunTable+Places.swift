import System

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
}

/// What is to be done about runs.
extension RunTable {
  enum Action: Equatable {
    /// A job becomes live: its planning starts.
    case start(JobPlanning.Source)
    /// A job's planning starts, whose manifest is to replace that of a live run.
    case startReplacement(JobPlanning.Source, of: Int)
    /// A planned manifest takes the place of that of a live run, which is superseded.
    case replace(Int, by: Int)
    /// What was to replace another run, which has ended meanwhile, is planned as a run of its own.
    case separate(Int)
    /// The work on the entries of a planned run begins.
    case begin(Int)
    /// What has not been done of the run is cancelled.
    case cancel(Int)
    /// What was not done of a cancelled or superseded run is recorded.
    case record(Int)
    /// The run's report is written and delivered.
    case finish(Int)
  }

  /// Compares what is wanted with what is live. Nothing is changed but the queue, from which it takes.
  ///
  /// A run has a place while its entries are worked on, unless it has started nothing for 5 s or has had the place for 60 s:
  /// it goes on, and another begins beside it. So a failing, held or huge job keeps no other waiting; nor does one whose
  /// planning takes long. While the queues are suspended no run yields its place. A run that only waits, for deferred entries
  /// or for its hosts, rests: it has no place, and hardly counts against the number of live runs. Runs are planned ahead, so
  /// that one is ready when a place is free.
  ///
  /// A run that nobody wants any more is cancelled as soon as it is planned, whether or not there is a place, and what is to be
  /// cancelled is planned before everything else: nothing else keeps it waiting. What is done of it stays done.
  /// - Parameter resumedAt: When the queues last resumed, as `Clock.monotonicSeconds`.
  mutating func actions(_ limits: JobLimits, resumedAt: Double, _ context: Context) -> [Action] {
    let live = inOrder
    let gate = context.gate
    let places = Places(context, resumedAt: resumedAt)
    let held = live.filter(places.has)
    let isDue = { (run: JobRun) in (context.holds[.ending(run.number)]?.due ?? 0) <= context.now }
    let done = live.filter { gate.mayReport && $0.mayFinish(isDue) }
    lazy var firstNumbers = Dictionary(live.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
    // Runs of a job end in their order.
    let unrecorded = live.filter { run in
      gate.mayClose && run.isClosed && isDue(run) && !context.isInProgress(run.number)
        && (firstNumbers[run.name] == run.number || run.leavesNothing)
    }
    let cancelled = live.filter {
      gate.mayCancel && $0.known.unwanted != nil && !isToReplace($0) && ($0.waits || $0.isWorkedOn)
    }
    let replaced = live.compactMap { $0.stage == .waiting ? $0.replaces : nil }
    let ready = live.filter {
      $0.waits && $0.known.unwanted == nil && $0.replaces == nil && !replaced.contains($0.number)
    }
    // The source of a replacement is downloaded beside the run that it replaces, which has the place.
    let sources = live.filter { gate.mayPlan && $0.stage == .unlisted && $0.replaces != nil }
    let free = gate.mayPlan ? max(0, limits.places - held.count { $0.stage != .planning }) : 0
    let begun = ready.prefix(free) + sources
    var actions = done.map { Action.finish($0.number) } + unrecorded.map { Action.record($0.number) }
    actions += cancelled.map { Action.cancel($0.number) }
    actions += begun.map { Action.begin($0.number) } + replacements(live, gate)
    guard gate.mayPlan else { return actions }
    var names = Set(live.map(\.name))
    func isHeld(_ job: String) -> Bool { context.holds.isHeld(.planning(job), now: context.now) }
    func isTaken(_ job: String) -> Bool { names.contains(job) || isHeld(job) }
    var planned = ready.count - begun.count + sources.count + held.count { $0.stage == .planning }
    var count = live.count { !places.rests($0) }
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
    while planned < limits.places, count < limits.live, total < limits.total, let next = queue.next(isLive: isTaken) {
      actions.append(.start(next))
      names.insert(next.job)
      planned += 1
      count += 1
      total += 1
    }
    return actions
  }

  /// What is to be done about runs whose manifests are replaced. What replaces another begins when that has ended.
  private func replacements(_ live: [JobRun], _ gate: Gate) -> [Action] {
    live.compactMap { run in
      guard run.waits || run.isWorkedOn, let number = run.replaces else { return nil }
      if let old = runs[number] {
        return gate.mayClose && run.mayReplace(old) ? .replace(number, by: run.number) : nil
      }
      // An earlier one may be ending that what it was to replace had replaced.
      let hasEarlierRun = live.contains { $0.order < run.order && $0.name == run.name }
      return gate.mayPlan && run.stage == .waiting && !hasEarlierRun ? .separate(run.number) : nil
    }
  }

  /// The live runs whose manifests may be replaced, by their files: of a job with several runs the last that goes on, if it is
  /// known that its manifest is not rejected.
  private func replaceable(_ live: [JobRun]) -> [FileName: JobRun] {
    let last = Dictionary(
      live.lazy.filter(\.isUnfinished).map { ($0.name, $0) }, uniquingKeysWith: { $0.order < $1.order ? $1 : $0 })
    let runs = last.values.filter { $0.known.unwanted == nil && ($0.waits || $0.isWorkedOn) }
    return Dictionary(runs.compactMap { run in run.file.map { ($0, run) } }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether the manifest of a run is to take the place of another one's. One that is being downloaded is not any more when
  /// that run has ended.
  private func isToReplace(_ run: JobRun) -> Bool {
    guard let replaces = run.replaces else { return false }
    return !run.isFetching || runs[replaces] != nil
  }
}

/// Which runs have a place, and which rest.
private struct Places {
  let context: RunTable.Context
  let resumedAt: Double
  private var isPaused: Bool { context.gate.isPaused }

  init(_ context: RunTable.Context, resumedAt: Double) { (self.context, self.resumedAt) = (context, resumedAt) }

  func has(_ run: JobRun) -> Bool {
    guard run.isWorkedOn || run.stage == .planning else { return false }
    if run.known.unwanted != nil || run.isFetching && run.replaces != nil || activity(of: run) == .deferred {
      return false
    }
    if isPaused { return true }
    return !isIdle(run) && context.now - max(run.since, resumedAt) < JobLimits.turnTime
  }

  /// Whether a run only waits: for deferred entries, or for hosts that take none.
  func rests(_ run: JobRun) -> Bool {
    switch activity(of: run) {
    case .busy: false
    case .idle: !isPaused && isIdle(run)
    case .deferred: true
    }
  }

  private func activity(of run: JobRun) -> RunEntries.Activity {
    guard run.isWorkedOn, let entries = run.entries else { return .busy }
    return context.activity(run.number, entries)
  }

  private func isIdle(_ run: JobRun) -> Bool {
    run.isWorkedOn
      && context.now - max(run.entries?.lastStarted ?? run.since, resumedAt) >= JobLimits.idleTime
  }
}

extension JobRun {
  /// Whether it closes, and neither a row of it is being delivered nor what was not done recorded.
  fileprivate var isClosed: Bool {
    if case .closing(let closing) = phase { !closing.isUnderWay && closing.entries.undelivered == 0 } else { false }
  }

  /// Whether all its rows are durable, and its report is not under way.
  /// - Parameter isDue: Whether it is not held.
  fileprivate func mayFinish(_ isDue: (JobRun) -> Bool) -> Bool {
    switch phase {
    case .running(let entries): entries.isDone
    case .reporting(let reporting): !reporting.isUnderWay && isDue(self)
    case .planning, .waiting, .closing: false
    }
  }

  /// Whether it takes the place of a run now.
  fileprivate func mayReplace(_ old: JobRun) -> Bool {
    guard old.known.unwanted == nil, old.waits || old.isWorkedOn else { return false }
    // No list is waited for, and no host is asked for one, that a later manifest makes needless.
    return old.isFetching || stage == .waiting
  }
}
