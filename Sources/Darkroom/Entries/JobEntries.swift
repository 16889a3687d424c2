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

  /// A host that was not started, with its first entry.
  struct Upcoming {
    let host: Int
    /// The number that the index gives to it.
    let local: Int
    let key: EntryKey
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

  /// The first host that was not started, once `fetchUpcoming` has found it.
  private(set) var upcoming: Upcoming?

  /// Hosts that were not started, a page of them.
  private var page: ArraySlice<(host: Int, key: EntryKey)> = []
  private var lastUpcoming: EntryKey?

  /// How many hosts were admitted before they were started, because this machine had no network.
  var passed = 0

  /// The most of these, and of entries that wait when more are set aside: each takes memory.
  static let passLimit = 10_000
  private var hasMore = true

  /// The index's numbers of hosts by those of all jobs, and the other way round.
  private var locals: [Int: Int] = [HostScheduler.files: HostScheduler.files]
  private var numbers: [Int: Int] = [HostScheduler.files: HostScheduler.files]

  init(_ index: JobIndex) { self.index = index }

  /// The entry at a place of the manifest.
  /// - Throws: `SQLiteError`, and `StopError.broken` when the index has none.
  func entry(at position: Int) throws -> Entry {
    guard let entry = try index.entry(at: position) else { throw StopError.broken("the index lacks entry \(position)") }
    return entry
  }

  /// Whether the next host that was not started is to be looked up.
  var needsUpcoming: Bool { upcoming == nil && (hasMore || !page.isEmpty) }

  /// Whether the next host may be admitted before it is started.
  var mayPassUpcoming: Bool { upcoming != nil && passed < Self.passLimit }

  /// Whether something is to be looked up before the next entry is chosen.
  func hasChanges(now: Int) -> Bool {
    needsUpcoming || dependencies?.hasWork == true || deferredChange <= now
  }

  /// Finds the first host that was not started; nil when there is none.
  func fetchUpcoming(names: inout HostNames) throws -> Upcoming? {
    if let upcoming { return upcoming }
    if page.isEmpty, hasMore {
      page = try index.hosts(after: lastUpcoming, limit: 256)[...]
      hasMore = !page.isEmpty
    }
    guard let (local, key) = page.first else { return nil }
    upcoming = Upcoming(host: try number(ofHost: local, names: &names), local: local, key: key)
    return upcoming
  }

  /// Turns to the host after the first.
  func passUpcoming() {
    lastUpcoming = upcoming?.key
    upcoming = nil
    page = page.dropFirst()
  }

  /// The number for all jobs of a host of the index.
  func number(ofHost local: Int, names: inout HostNames) throws -> Int {
    if let number = numbers[local] { return number }
    let number = names.number(of: try index.hostName(local) ?? "")
    numbers[local] = number
    locals[number] = local
    return number
  }

  /// Forgets a host at which the job has nothing left.
  func forget(_ host: Int) {
    guard host != HostScheduler.files, let local = locals.removeValue(forKey: host) else { return }
    numbers[local] = nil
  }

  /// The number that the index gives to a host.
  func localNumber(of host: Int) -> Int? { locals[host] }
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
