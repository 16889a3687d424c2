import Model
import System

/// The limits of live jobs.
struct JobLimits: Equatable {
  /// The time in seconds after which a job that starts nothing yields its slot.
  static let idleTime = 5.0

  /// The time in seconds after which a live job yields its slot.
  static let turnTime = 60.0

  /// The time in seconds after which a job that was set aside takes another's place, if none of its deferred entries is due before.
  static let asideTime = 600.0

  /// The jobs whose entries are processed at once. As many others are planned ahead.
  var slots: Int

  /// All live jobs except resting ones, including those that have yielded their slots.
  var live: Int

  /// All live jobs. Those that only wait need a descriptor each, or none.
  var total: Int
}

extension JobLimits {
  /// - Parameter descriptors: How many descriptors the process may have.
  init(_ configuration: Configuration, descriptors: Int) {
    slots = configuration.jobs
    live = max(slots, min(1024, descriptors / Configuration.descriptorsPerJob))
    total = 4 * live
  }
}

/// The decisions about runs.
extension RunTable {
  enum Action: Equatable {
    /// Makes a job live: starts its planning.
    case start(JobPlanning.Source)
    /// Starts the planning of a job whose manifest replaces that of a live run.
    case startReplacement(JobPlanning.Source, of: Int)
    /// Replaces the manifest of a live run, which is superseded, by a planned one.
    case replace(Int, by: Int)
    /// Plans a replacement as a run of its own, after the other run has ended.
    case separate(Int)
    /// Begins the processing of a planned run's entries.
    case begin(Int)
    /// Cancels the remaining entries of a run.
    case cancel(Int)
    /// Records the remaining entries of a cancelled or superseded run.
    case record(Int)
    /// Writes and delivers the report of a run.
    case finish(Int)
    /// Returns a resting run to the queue.
    case setAside(Int)
  }

  /// Compares the wanted runs with the live ones. Changes only the queue, from which jobs are taken.
  ///
  /// A run has a slot while its entries are processed, until it has started nothing for 5 s or has had the slot for 60
  /// s. Then it continues without a slot, and another run begins. So a failing, held or huge job, or one whose planning
  /// takes long, does not block others. While the queues are suspended, runs keep their slots. A run that only waits
  /// for deferred entries or for hosts that are closed or on hold is resting: it has no slot, and counts only towards the total number
  /// of live runs. When that limit is reached, the first of these to have been planned is set aside for another job: it returns to the
  /// queue until there is room, one of its deferred entries is due, or 10 minutes have passed. Runs are planned ahead, so that one is ready
  /// when a slot becomes free.
  ///
  /// A run that is to be cancelled is cancelled as soon as it is planned, without a slot, and jobs to cancel are
  /// planned before all others. Finished results stay.
  /// - Parameter resumedAt: When the queues were last resumed, as `Clock.monotonicSeconds`.
  mutating func actions(_ limits: JobLimits, resumedAt: Double, _ context: Context) -> [Action] {
    let live = inOrder
    let gate = context.gate
    let slots = RunSlots(context, resumedAt: resumedAt)
    // There may be thousands of runs that only wait.
    var (resting, others): ([Int], [JobRun]) = ([], [])
    for run in live {
      if slots.rests(run) { resting.append(run.number) } else { others.append(run) }
    }
    let held = others.filter(slots.has)
    let isDue = { (run: JobRun) in (context.holds[.ending(run.number)]?.due ?? 0) <= context.now }
    let done = others.filter { gate.mayReport && $0.mayFinish(isDue) }
    lazy var firstNumbers = Dictionary(live.map { ($0.key, $0.number) }, uniquingKeysWith: { first, _ in first })
    // Runs of a job end in their order.
    let unrecorded = others.filter { run in
      gate.mayClose && run.isClosed && isDue(run) && !context.isInProgress(run.number)
        && (firstNumbers[run.key] == run.number || run.leavesNothing)
    }
    let cancelled = live.filter {
      gate.mayCancel && $0.known.unwanted != nil && !isToReplace($0) && ($0.waits || $0.isWorkedOn)
    }
    let replaced = others.compactMap { $0.stage == .waiting ? $0.replaces : nil }
    let ready = others.filter {
      $0.waits && $0.known.unwanted == nil && $0.replaces == nil && !replaced.contains($0.number)
    }
    // The source of a replacement is downloaded beside the run that it replaces, in that run's slot.
    let sources = others.filter { gate.mayPlan && $0.stage == .unlisted && $0.replaces != nil }
    let free = gate.mayPlan ? max(0, limits.slots - held.count { $0.stage != .planning }) : 0
    let begun = ready.prefix(free) + sources
    var actions = done.map { Action.finish($0.number) } + unrecorded.map { Action.record($0.number) }
    actions += cancelled.map { Action.cancel($0.number) }
    actions += begun.map { Action.begin($0.number) } + replacements(live, gate)
    guard gate.mayPlan else { return actions }
    let planned = ready.count - begun.count + sources.count + held.count { $0.stage == .planning }
    var places = Places(free: limits.total - live.count)
    if !places.areFree { places.resting = mayBeSetAside(of: resting, limit: 2 * limits.slots, context) }
    let starts = starts(
      beside: live, in: &places, ahead: min(limits.slots - planned, limits.live - others.count), context)
    return places.setAside.map(Action.setAside) + actions + starts
  }

  /// The jobs that become live, which are taken from the queue: those to cancel, replacements, and others.
  /// - Parameter limit: The most others.
  private mutating func starts(
    beside live: [JobRun], in places: inout Places, ahead limit: Int, _ context: Context
  ) -> [Action] {
    lazy var names = Set(live.map(\.key))
    func isLive(_ job: String) -> Bool { names.contains(ByteKey(job)) }
    func isHeld(_ job: String) -> Bool { context.holds.isHeld(.planning(ByteKey(job)), now: context.now) }
    func isTaken(_ job: String) -> Bool { isLive(job) || isHeld(job) }
    var actions: [Action] = []
    while places.areLeft, let next = queue.nextCancelled(isLive: isTaken) {
      places.take()
      actions.append(.start(next))
      names.insert(ByteKey(next.job))
    }
    var files = queue.mayReplace ? replaceable(live) : [:]
    while places.areLeft, !files.isEmpty,
      let next = queue.nextReplacement(of: files, isLive: isLive, isHeld: isHeld),
      let old = files.removeValue(forKey: next.file)
    {
      places.resting.removeAll { $0 == old.number }
      places.take()
      actions.append(.startReplacement(next.source, of: old.number))
    }
    var left = limit
    while left > 0, places.areLeft,
      let next = queue.next(isLive: isTaken, now: context.now, withAside: places.areFree)
    {
      places.take()
      actions.append(.start(next))
      names.insert(ByteKey(next.job))
      left -= 1
    }
    return actions
  }

  /// The first of the runs that may be set aside.
  private func mayBeSetAside(of resting: [Int], limit: Int, _ context: Context) -> ArraySlice<Int> {
    let replaced = Set(runs.values.compactMap(\.replaces))
    var found: ArraySlice<Int> = []
    for case let run? in resting.lazy.map({ runs[$0] }) where run.stage == .running {
      if found.count >= limit { break }
      guard let entries = run.entries, entries.undelivered == 0, run.known.unwanted == nil, run.replaces == nil,
        !replaced.contains(run.number), context.activity(run.number, entries) == .resting,
        !context.isInProgress(run.number)
      else { continue }
      found.append(run.number)
    }
    return found
  }

  /// The decisions about runs whose manifests are replaced. A replacement begins when the other run has ended.
  private func replacements(_ live: [JobRun], _ gate: Gate) -> [Action] {
    live.compactMap { run in
      guard run.waits || run.isWorkedOn, let number = run.replaces else { return nil }
      if let old = runs[number] {
        return gate.mayClose && run.mayReplace(old) ? .replace(number, by: run.number) : nil
      }
      // An earlier run, which the replaced one had replaced, may still be closing.
      let hasEarlierRun = live.contains { $0.order < run.order && $0.key == run.key }
      return gate.mayPlan && run.stage == .waiting && !hasEarlierRun ? .separate(run.number) : nil
    }
  }

  /// The live runs whose manifests may be replaced, by file. Of several runs of a job it is the last that continues, if
  /// its manifest has been planned without problems.
  private func replaceable(_ live: [JobRun]) -> [FileName: JobRun] {
    let last = Dictionary(
      live.lazy.filter(\.isUnfinished).map { ($0.key, $0) }, uniquingKeysWith: { $0.order < $1.order ? $1 : $0 })
    let runs = last.values.filter { $0.known.unwanted == nil && ($0.waits || $0.isWorkedOn) }
    return Dictionary(runs.compactMap { run in run.file.map { ($0, run) } }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether the manifest of a run still has to replace another one's. A list that is being downloaded does not, when
  /// that run has ended.
  private func isToReplace(_ run: JobRun) -> Bool {
    guard let replaces = run.replaces else { return false }
    return !run.isFetching || runs[replaces] != nil
  }
}

/// Decides which runs have a slot, and which are resting.
private struct RunSlots {
  let context: RunTable.Context
  let resumedAt: Double
  private var isPaused: Bool { context.gate.isPaused }

  init(_ context: RunTable.Context, resumedAt: Double) { (self.context, self.resumedAt) = (context, resumedAt) }

  func has(_ run: JobRun) -> Bool {
    guard run.isWorkedOn || run.stage == .planning else { return false }
    if run.known.unwanted != nil || run.isFetching && run.replaces != nil || activity(of: run) == .resting {
      return false
    }
    if isPaused { return true }
    return !isIdle(run) && context.now - max(run.since, resumedAt) < JobLimits.turnTime
  }

  /// Whether a run only waits, for deferred entries or for hosts.
  func rests(_ run: JobRun) -> Bool {
    switch activity(of: run) {
    case .busy: false
    case .idle: !isPaused && isIdle(run)
    case .resting: true
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
  /// Whether it is closing, and neither rows are being delivered nor remaining entries recorded.
  fileprivate var isClosed: Bool {
    if case .closing(let closing) = phase { !closing.isUnderWay && closing.entries.undelivered == 0 } else { false }
  }

  /// Whether all its rows are durable, and its report is not being written or delivered.
  /// - Parameter isDue: Whether the run is not held.
  fileprivate func mayFinish(_ isDue: (JobRun) -> Bool) -> Bool {
    switch phase {
    case .running(let entries): entries.isDone
    case .reporting(let reporting): !reporting.isUnderWay && isDue(self)
    case .planning, .waiting, .closing: false
    }
  }

  /// Whether it replaces a run now.
  fileprivate func mayReplace(_ old: JobRun) -> Bool {
    guard old.known.unwanted == nil, old.waits || old.isWorkedOn else { return false }
    // A list that a later manifest makes superfluous need not be downloaded.
    return old.isFetching || stage == .waiting
  }
}
