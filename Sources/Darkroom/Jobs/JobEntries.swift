import Scheduling

/// What `EntryScheduler` keeps of one job.
final class JobEntries {
  /// An entry whose outcome is not known.
  struct Started {
    let key: EntryKey
    let host: Int

    /// How often it was tried before.
    var attempts = 0

    /// How many of these tries do not count: its host refused them, or they were another mirror's.
    var uncounted = 0

    /// How often its host refused the URL in use before.
    var refusals = 0

    /// Which of its URLs is in use, from 0.
    var mirror = 0

    /// How often that one was tried before.
    var attemptsAtMirror = 0

    /// Tries that do not count if the network was down.
    var suspected: Retry.Suspected?

    /// Whether the last try is one of these.
    var isSuspected = false

    /// When it was started for the first time since it was last deferred, in milliseconds of the time without pauses; nil
    /// when its tries are not timed.
    var roundBegan: Int?

    /// When it started, in milliseconds.
    let since: Int

    /// When it was first tried; nil when that is this time.
    var firstTried: Int?

    /// Whether the failure of an earlier mirror may pass.
    var mirrorMayPass = false
    var isDownloading = true

    /// The host that is asked if it is tried again; nil for `host`.
    var retryHost: Int?

    /// Whether it was reported that its download has begun.
    var hasBegun = false

    /// Whether its download is too slow.
    var isSlow = false

    /// Why it failed before; nil when that is not kept.
    var failure: EntryFailure?

    /// What it was started as; nil when it was not tried before in its run.
    var retry: Retry?
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
  var started: [Int: Started] = [:]
  var transfers = Transfers()

  /// How often entries were tried that wait to be tried again, by position.
  var attempts: [Int: Int] = [:]

  /// When these were first tried, in milliseconds. Of entries that were begun and given up it is kept, too.
  var firstTried: [Int: Int] = [:]
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

  /// Why entries failed that wait for their next try, by position; only of those whose time is limited.
  var failures: [Int: EntryFailure] = [:]

  /// What downloads that broke off have left, by position.
  var partials: [Int: PartialDownload] = [:]

  /// How the mirrors of entries failed that were tried before the present ones, by position.
  var mirrorFailures: [Int: [ReportRow.MirrorFailure]] = [:]

  /// The first host that was not started, once `fetchUpcoming` has found it.
  private(set) var upcoming: Upcoming?

  /// Hosts that were not started, a page of them.
  private var page: ArraySlice<(host: Int, key: EntryKey)> = []
  private var lastUpcoming: EntryKey?
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

  /// An entry that starts for the first time in its run: it may have been tried in the run that this one replaces.
  func firstStart(of key: EntryKey, at host: Int, now: Int) -> Started {
    var started = Started(key: key, host: host, since: now)
    started.attempts = attempts[key.position] ?? 0
    started.attemptsAtMirror = started.attempts
    started.firstTried = firstTried[key.position]
    return started
  }

  /// Whether the next host that was not started is to be looked up.
  var needsUpcoming: Bool { upcoming == nil && (hasMore || !page.isEmpty) }

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

  /// Has no entry start but for those that are deferred.
  func passAllUpcoming() { (upcoming, page, hasMore) = (nil, [], false) }

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

extension JobEntries.Started {
  /// How many of its tries, the last one included, do not count: its host refused them, they were another mirror's, or the
  /// network was down.
  func uncounted(isOutage: (Int) -> Bool) -> Int {
    uncounted + (suspected.map { isOutage($0.suspicion) ? $0.tries : 0 } ?? 0)
  }

  /// Records that the last try failed, which does not count if a suspicion becomes an outage.
  mutating func fail(suspicion: Int, isOutage: (Int) -> Bool) {
    var tries = 1
    if let earlier = suspected {
      if earlier.suspicion == suspicion {
        tries += earlier.tries
      } else if isOutage(earlier.suspicion) {
        // The record of the last try has its number already: it cannot be lowered any more.
        uncounted += earlier.tries
        roundBegan = nil
      }
    }
    suspected = Retry.Suspected(suspicion: suspicion, tries: tries)
    isSuspected = true
  }

  /// Takes off the tries that failed because the network was down, before the entry is started again: neither they nor their
  /// time count.
  mutating func discountOutage(_ isOutage: (Int) -> Bool) {
    guard let suspected, isOutage(suspected.suspicion) else { return }
    attempts = max(0, attempts - suspected.tries)
    attemptsAtMirror = max(0, attemptsAtMirror - suspected.tries)
    roundBegan = nil
    self.suspected = nil
  }

  init(_ retry: Retry, since: Int) {
    self.init(
      key: retry.key, host: retry.host, attempts: retry.attempts, uncounted: retry.uncounted, refusals: retry.refusals,
      mirror: retry.mirror,
      attemptsAtMirror: retry.attemptsAtMirror, suspected: retry.suspected, roundBegan: retry.roundBegan,
      since: since, firstTried: retry.firstTried, mirrorMayPass: retry.mirrorMayPass, retry: retry)
  }
}
