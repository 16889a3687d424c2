import Scheduling

/// What a run has in progress and what it waits for, at one moment: what bounds it follows from that.
struct RunLoad: Equatable, Sendable {
  /// How far the run is.
  enum Stage: Equatable, Sendable {
    /// Its manifest is being read.
    case planning
    /// It is planned, and waits for its turn among jobs.
    case ready
    /// Entries of it are worked on.
    case working
  }

  /// The operations of a queue.
  struct Queue: Equatable, Sendable {
    /// How many there are, of all runs: those that run, and those that wait for a place.
    var all = 0

    /// How many are the run's.
    var own = 0

    /// How many may run at once.
    var limit = 1

    /// Whether all places are taken.
    var isFull: Bool { all >= limit }

    /// Whether some wait for a place.
    var hasWaiting: Bool { all > limit }

    /// Whether at least half of them are the run's.
    var isMostlyOwn: Bool { 2 * own >= all }
  }

  var stage = Stage.working

  /// Why the queues are suspended, as `Bound.name` has it; nil when they are not.
  var pause: String?

  var downloads = Queue()
  var filtrations = Queue()

  /// How many of the run's downloads rates hold back, and that of all downloads together in bytes per second; nil without one.
  var heldByTotalRate = 0
  var heldByHostRate = 0
  var totalRate: Int?

  /// Processors for filtrations.
  var processors = 1

  /// Whether the program finds out how many downloads may run at once.
  var isDownloadLimitFound = false

  /// Whether the program had much to do besides the operations.
  var isLoopBusy = false

  /// How many of the run's results are on their way to the outbox, and whether those of all runs leave no room for others.
  var undelivered = 0
  var isFullOfUndelivered = false

  var backlog = JobBacklog()

  /// The names of `backlog.host` and `backlog.onlyHost`; nil when there is no single one.
  var host: String?
  var onlyHost: String?

  /// How many entries are deferred.
  var deferred = 0

  /// How many entries come after others that have not ended.
  var dependents = 0

  /// What keeps the run from being faster; nil when nothing is known to. What is last on an entry's way and piles up counts
  /// first: in front of it nothing would help.
  var bound: Bound? {
    if let pause { return Bound(.pause, name: pause) }
    switch stage {
    case .planning: return Bound(.planning)
    case .ready: return Bound(.otherJobs, option: "--jobs")
    case .working: return piledUp ?? notStarted ?? inProgress ?? waiting
    }
  }

  /// What is in progress and waits for something that is in use as much as it may be.
  private var piledUp: Bound? {
    if filtrations.hasWaiting, filtrations.own > 0 {
      guard filtrations.isMostlyOwn else { return Bound(.otherJobs) }
      return filtrations.limit < processors
        ? Bound(.filtrations, option: "--filtrations", limit: filtrations.limit) : Bound(.processors)
    }
    if isLoopBusy { return Bound(.processors) }
    guard downloads.own > 0, 2 * (heldByTotalRate + heldByHostRate) >= downloads.own else { return nil }
    return heldByTotalRate >= heldByHostRate
      ? Bound(.rate, option: "--max-rate", limit: totalRate) : Bound(.rate, name: onlyHost, option: Bound.hostRules)
  }

  /// What keeps the run from starting more.
  private var notStarted: Bound? {
    if downloads.isFull, backlog.isReady || downloads.hasWaiting && downloads.own > 0 {
      guard downloads.isMostlyOwn else { return Bound(.otherJobs) }
      return Bound(.downloads, option: isDownloadLimitFound ? nil : "--downloads", limit: downloads.limit)
    }
    if backlog.isReady {
      if isFullOfUndelivered { return Bound(.disk) }
      // As much is downloaded as may be.
      if filtrations.all > 0 { return Bound(filtrations.isMostlyOwn ? .processors : .otherJobs) }
    }
    switch backlog.shortage {
    case nil: break
    case .silence, .closed: return Bound(.servers, name: host)
    case .hold: return Bound(.hostHold, name: host)
    case .interval: return Bound(.host, name: host, option: Bound.hostRules)
    case .rule(let limit): return Bound(.host, name: host, option: Bound.hostRules, limit: limit)
    case .places(let limit): return Bound(.host, name: host, option: "--per-host", limit: limit)
    }
    return dependents > 0 ? Bound(.after) : nil
  }

  /// What the run is in progress with, when all has started.
  private var inProgress: Bound? {
    if downloads.own > 0 {
      return backlog.onlyHost == HostScheduler.files ? Bound(.disk) : Bound(.servers, name: onlyHost)
    }
    if filtrations.own > 0 { return Bound(.processors) }
    return undelivered > 0 ? Bound(.disk) : nil
  }

  /// What the run waits for, when nothing is in progress.
  private var waiting: Bound? {
    if backlog.retries > 0 { return backlog.isHeld ? Bound(.hostHold, name: host) : Bound(.retry) }
    return deferred > 0 ? Bound(.deferred, option: "--retry-for") : nil
  }
}
