import JobIndex
import Model
import Scheduling

/// The state of one job in `EntryScheduler`.
final class JobEntries {
  /// The state of an entry. Entries without one have not been started, have ended or are deferred: the index and the
  /// deferred queue have them.
  enum EntryState {
    /// It will be started, again or for the first time in this run. Its history must not be lost.
    case waiting(AttemptHistory)
    case inProgress(Started)
  }

  /// An entry in progress.
  final class Started {
    let key: EntryKey

    /// The host of the request.
    let host: Int

    /// When it started, in milliseconds.
    let since: Int

    /// Its tries before this one.
    var history: AttemptHistory

    /// The host of the next try; nil for the same.
    let retryHost: Int?
    var isDownloading = true

    /// Whether the beginning of its download was reported.
    var hasBegun = false

    /// Whether its download is too slow.
    var isSlow = false

    /// Whether its request is a trial of a closed host.
    let isTrial: Bool

    /// When it was first tried: before, or now.
    var firstTried: Int { history.firstTried ?? since }

    init(key: EntryKey, host: Int, since: Int, history: AttemptHistory, retryHost: Int?, isTrial: Bool) {
      self.key = key
      self.host = host
      self.since = since
      self.history = history
      self.retryHost = retryHost
      self.isTrial = isTrial
    }
  }

  let index: JobIndex

  /// Whether no more entries start, because its index cannot be read or its run is closing.
  var isStopped = false

  /// The state of entries by their position in the manifest.
  private(set) var states: [Int: EntryState] = [:]

  /// The number of entries in progress.
  private(set) var inProgress = 0
  var transfers = Transfers()
  var deferred = DeferredQueue() { didSet { deferredChange = deferred.nextChange ?? .max } }

  /// The queue's `nextChange`; `Int.max` for none. It is cached because it is read for all jobs whenever an entry
  /// starts, and reading it from the queue would copy the queue.
  private(set) var deferredChange = Int.max

  /// The dependencies between entries; nil when no entry waits.
  var dependencies: DependencyTracker?

  /// Variants that wait for others of their entry; nil when there are none.
  var variants: HeldVariants?

  /// The positions of entries without a mirror that were set aside to find those behind them that have one.
  var setAside: Set<Int> = []

  var hosts: JobHosts

  /// The most hosts that are admitted before they are started, and the most waiting entries with which more are set
  /// aside. Limits the use of memory.
  static let passLimit = 10_000

  init(_ index: JobIndex) { (self.index, hosts) = (index, JobHosts(index)) }

  /// The entry at a position of the manifest.
  /// - Throws: `SQLiteError`; `StopError.broken` when there is none.
  func entry(at position: Int) throws -> Entry {
    guard let entry = try index.entry(at: position) else { throw StopError.broken("the index lacks entry \(position)") }
    return entry
  }

  /// Whether the index must be read before the next entry is chosen.
  func hasChanges(now: Int) -> Bool {
    hosts.needsUpcoming || dependencies?.hasWork == true || deferredChange <= now
  }
}

// MARK: States

extension JobEntries {
  /// The entry in progress at a position.
  subscript(started position: Int) -> Started? {
    if case .inProgress(let started)? = states[position] { started } else { nil }
  }

  /// Removes an entry that is in progress; does nothing to others.
  func removeStarted(_ position: Int) {
    guard self[started: position] != nil else { return }
    states[position] = nil
    inProgress -= 1
  }

  /// The history of a waiting entry.
  subscript(waiting position: Int) -> AttemptHistory? {
    if case .waiting(let history)? = states[position] { history } else { nil }
  }

  /// The number of entries that wait outside the index: those that were tried, and those that were set aside.
  var waitingCount: Int { states.count - inProgress + setAside.count }

  /// The positions of entries in progress.
  var startedPositions: Set<Int> { Set(states.keys.filter { self[started: $0] != nil }) }

  /// The histories of waiting entries, by position.
  var waiting: [Int: AttemptHistory] {
    states.compactMapValues { if case .waiting(let history) = $0 { history } else { nil } }
  }

  /// The partial downloads of waiting entries.
  var partials: [PartialDownload] {
    states.values.compactMap { if case .waiting(let history) = $0 { history.partial } else { nil } }
  }

  /// Starts an entry with its history.
  func start(_ started: Started) {
    if self[started: started.key.position] == nil { inProgress += 1 }
    if !setAside.isEmpty { setAside.remove(started.key.position) }
    states[started.key.position] = .inProgress(started)
  }

  /// Makes an entry wait. It is not in progress any more.
  func wait(_ position: Int, _ history: AttemptHistory) {
    removeStarted(position)
    states[position] = .waiting(history)
  }

  /// Drops the partial downloads of waiting entries.
  func dropPartials() {
    for (position, history) in waiting where history.partial != nil {
      var history = history
      history.partial = nil
      states[position] = .waiting(history)
    }
  }
}
