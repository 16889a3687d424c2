import JobIndex
import Model
import Scheduling

/// What `EntryScheduler` keeps of one job.
final class JobEntries {
  /// What an entry does that has neither ended nor been deferred. Of others the table has nothing: the index says which of
  /// them are to be started or held, and the deferred queue when those are tried again.
  enum EntryState {
    /// To be started again, or for the first time in this run. What is known about its tries is not to be lost.
    case waiting(AttemptHistory)
    case inProgress(Started)
  }

  /// An entry in progress: its outcome is not known.
  struct Started {
    let key: EntryKey

    /// The host that is asked.
    let host: Int

    /// When it started, in milliseconds.
    let since: Int

    /// Its tries before this one.
    var history: AttemptHistory

    /// The host that is asked when it is tried again. Default: nil, the same.
    var retryHost: Int?
    var isDownloading = true

    /// Whether it was reported that its download has begun.
    var hasBegun = false

    /// Whether its download is too slow.
    var isSlow = false

    /// Whether its request tries if a closed host answers again.
    var isTrial = false

    /// When it was first tried: now, unless it was before.
    var firstTried: Int { history.firstTried ?? since }
  }

  let index: JobIndex

  /// Whether nothing of it starts any more, because its index cannot be read.
  var isStopped = false

  /// The state of entries by their position in the manifest.
  private(set) var states: [Int: EntryState] = [:]

  /// How many of them are in progress.
  private(set) var inProgress = 0
  var transfers = Transfers()
  var deferred = DeferredQueue() {
    didSet { deferredChange = deferred.nextChange ?? .max }
  }

  /// `nextChange` of these; `Int.max` when there is none. It is asked of all jobs for each entry that starts, and the queue
  /// would be copied for that.
  private(set) var deferredChange = Int.max

  /// Which entries wait for others; nil when none does.
  var dependencies: DependencyTracker?

  /// Variants that wait for others of their entry; nil when none does.
  var variants: HeldVariants?

  /// The positions of entries without another URL that were set aside, to find those behind them that have one.
  var setAside: Set<Int> = []

  /// At which state of a host none of its entries that are due has a mirror at an open host.
  var withoutMirror: [Int: HostScheduler.MirrorVersion] = [:]

  var hosts: JobHosts

  /// The most hosts that are admitted before they are started, and entries that wait when more are set aside: each takes
  /// memory.
  static let passLimit = 10_000

  init(_ index: JobIndex) { (self.index, hosts) = (index, JobHosts(index)) }

  /// The entry at a place of the manifest.
  /// - Throws: `SQLiteError`, and `StopError.broken` when the index has none.
  func entry(at position: Int) throws -> Entry {
    guard let entry = try index.entry(at: position) else { throw StopError.broken("the index lacks entry \(position)") }
    return entry
  }

  /// Whether something is to be looked up before the next entry is chosen.
  func hasChanges(now: Int) -> Bool {
    hosts.needsUpcoming || dependencies?.hasWork == true || deferredChange <= now
  }
}

// MARK: States

extension JobEntries {
  /// The entry in progress at a position. Setting it changes one that is in progress; nil removes it.
  subscript(started position: Int) -> Started? {
    get { if case .inProgress(let started)? = states[position] { started } else { nil } }
    set {
      guard self[started: position] != nil else { return }
      states[position] = newValue.map(EntryState.inProgress)
      if newValue == nil { inProgress -= 1 }
    }
  }

  /// What is known about the tries of an entry that waits.
  subscript(waiting position: Int) -> AttemptHistory? {
    if case .waiting(let history)? = states[position] { history } else { nil }
  }

  /// How many entries wait beside the index, at least: those that were tried, and those that were set aside.
  var waitingCount: Int { states.count - inProgress + setAside.count }

  /// The positions of entries in progress.
  var startedPositions: Set<Int> { Set(states.keys.filter { self[started: $0] != nil }) }

  /// What is known about the tries of entries that wait, by position.
  var waiting: [Int: AttemptHistory] {
    states.compactMapValues { if case .waiting(let history) = $0 { history } else { nil } }
  }

  /// What broken downloads of entries that wait have left.
  var partials: [PartialDownload] {
    states.values.compactMap { if case .waiting(let history) = $0 { history.partial } else { nil } }
  }

  /// Starts an entry with what is known about its tries.
  func start(_ started: Started) {
    if self[started: started.key.position] == nil { inProgress += 1 }
    if !setAside.isEmpty { setAside.remove(started.key.position) }
    states[started.key.position] = .inProgress(started)
  }

  /// Makes an entry wait. If it was in progress, it is so no more.
  func wait(_ position: Int, _ history: AttemptHistory) {
    self[started: position] = nil
    states[position] = .waiting(history)
  }

  /// Removes what broken downloads of entries that wait have left.
  func dropPartials() {
    for (position, history) in waiting where history.partial != nil {
      var history = history
      history.partial = nil
      states[position] = .waiting(history)
    }
  }
}
