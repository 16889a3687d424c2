/// The entries of a job that are left at the hosts that it has started, ranked.
struct JobSites {
  /// The entries of a job that are left at one host.
  struct Site {
    let host: Int
    /// The host's slot in `HostTable`.
    let slot: Int
    /// The next entry that was not started; nil when there is none.
    var next: EntryKey?
    /// Retries that are due, and new entries that wait apart for a closed host.
    fileprivate(set) var dueRetries = PriorityQueue<Retry>()
    /// The number of them with a mirror.
    fileprivate(set) var dueMirrored = 0
    /// Entries that waited for others, and are released.
    var released = PriorityQueue<EntryKey>()
    /// How many retries are not due yet.
    var waiting = 0
    /// Entries that have started without a known outcome.
    var inProgress = 0
    /// The number of its last start, counted over all jobs; 0 when it has none.
    var lastStart = 0
    /// How many others have started since an entry that fails by itself. Default: many, none has started.
    var startsSinceFailing = Site.othersBetween
    /// Whether it waits for room at its host, and is not ranked.
    var isBlocked = false
    /// The version of its rank; 0 when it has none.
    fileprivate var version = 0

    /// How many others start between two entries that fail by themselves, if there are any: their answers show that the host
    /// serves.
    static let othersBetween = 5

    /// The first entry that may start.
    var key: EntryKey? {
      var key = next
      if let free = released.first, key.map({ free < $0 }) ?? true { key = free }
      guard let due = dueRetries.first, let other = key else { return key ?? dueRetries.first?.key }
      let mustWait =
        startsSinceFailing < Self.othersBetween && due.failsByItself && due.key.priority == other.priority
      return due.key < other && !mustWait ? due.key : other
    }

    /// The kind of that entry; the next new entry when there is none.
    var first: HostScheduler.Choice.Kind {
      let key = key
      if let free = released.first, free == key { return .released(free, host: host) }
      if let retry = dueRetries.first, retry.key == key { return .retry(retry) }
      return .host(host)
    }

    /// The entry that tries whether a closed host answers again: one that was not tried there, if there is any, else one
    /// with the fewest tries. URLs that always fail must not keep the host closed.
    var trial: HostScheduler.Choice.Kind {
      let new = next ?? released.first
      if let due = dueRetries.elements.min(by: { $0.isTried(before: $1) }) {
        guard let new, due.tries > 0 || new.priority < due.key.priority else { return .retry(due) }
      }
      return next == nil ? released.first.map { .released($0, host: host) } ?? .host(host) : .host(host)
    }

    var isDone: Bool { waiting == 0 && inProgress == 0 && key == nil }
  }

  /// The order of a job's hosts: the lesser comes first.
  struct Rank: Comparable {
    let priority: Int
    let wasDeferred: Bool
    let quanta: Int
    let position: Int

    init(_ key: EntryKey, quanta: Int) {
      priority = key.priority
      wasDeferred = key.wasDeferred
      self.quanta = quanta
      position = key.position
    }

    static func < (a: Rank, b: Rank) -> Bool {
      if a.priority != b.priority { return a.priority < b.priority }
      if a.wasDeferred != b.wasDeferred { return b.wasDeferred }
      return a.quanta != b.quanta ? a.quanta < b.quanta : a.position < b.position
    }
  }

  /// A site with its rank at a version.
  struct Ranked: Comparable {
    let rank: Rank
    let site: Int
    fileprivate let version: Int

    static func < (a: Ranked, b: Ranked) -> Bool { a.rank < b.rank }
  }

  /// The first of a job's entries that may start.
  struct Head {
    let priority: Int
    /// nil for the first entry of the next host that was not started.
    let site: Int?
  }

  let number: Int

  /// The number of its last start, counted over all jobs. That of a new job is below all others.
  var lastStart: Int

  /// Whether none of its entries starts. Default: no.
  var isPaused = false

  /// The first entry of the next host that was not started; nil when there is none.
  var upcoming: EntryKey?

  /// The last result of `findHead`.
  private(set) var head: Head?

  /// How many retries are not due yet.
  private(set) var waitingRetries = 0

  /// Sites of hosts without entries have no meaning.
  private(set) var sites: [Site] = []
  private var indices: [Int: Int] = [:]
  private var unused: [Int] = []

  /// The sites that wait for room at their hosts.
  private(set) var blocked: Set<Int> = []

  /// The sites with an entry that may start, and their earlier ranks.
  private var ranked = PriorityQueue<Ranked>()
  private var versions = 0

  init(number: Int, lastStart: Int) { (self.number, self.lastStart) = (number, lastStart) }

  // MARK: Sites

  /// The index of the site at a host; nil when no entry is left there.
  func site(at host: Int) -> Int? { indices[host] }

  /// The slots of the hosts with entries left.
  var slots: [Int] { indices.values.map { sites[$0].slot } }

  /// The only host with entries left; nil when there are several, or none.
  var onlyHost: Int? { indices.count == 1 ? indices.first?.key : nil }

  /// Whether an entry may start, unless its host turns out to have no room.
  var hasCandidate: Bool { mutating get { upcoming != nil || first != nil } }

  /// Adds a site.
  /// - Returns: Its index.
  mutating func insert(host: Int, slot: Int) -> Int {
    let index = unused.popLast() ?? sites.count
    let site = Site(host: host, slot: slot)
    if index == sites.count { sites.append(site) } else { sites[index] = site }
    indices[host] = index
    return index
  }

  mutating func remove(_ index: Int) {
    indices[sites[index].host] = nil
    sites[index].version = 0
    blocked.remove(index)
    unused.append(index)
  }

  mutating func setNext(_ next: EntryKey?, at index: Int) { sites[index].next = next }

  mutating func start(at index: Int, number: Int, failsByItself: Bool) {
    sites[index].inProgress += 1
    sites[index].startsSinceFailing = failsByItself ? 0 : sites[index].startsSinceFailing &+ 1
    sites[index].lastStart = number
    lastStart = number
  }

  mutating func finished(at index: Int) { sites[index].inProgress -= 1 }

  // MARK: Retries

  mutating func retryWaits(at index: Int) {
    sites[index].waiting += 1
    waitingRetries += 1
  }

  mutating func retryIsDue(_ retry: Retry, at index: Int) {
    waitingRetries -= 1
    sites[index].waiting -= 1
    setAside(retry, at: index)
  }

  /// Adds an entry that is due.
  mutating func setAside(_ retry: Retry, at index: Int) {
    sites[index].dueRetries.insert(retry)
    if retry.hasMirror { sites[index].dueMirrored += 1 }
  }

  /// Adds an entry that may start.
  /// - Returns: Whether it is the first.
  mutating func release(_ key: EntryKey, at index: Int) -> Bool {
    let isFirst = sites[index].key.map { key < $0 } ?? true
    sites[index].released.insert(key)
    return isFirst
  }

  mutating func popReleased(at index: Int) { _ = sites[index].released.popFirst() }

  mutating func removeRetry(_ retry: Retry, at index: Int) {
    if retry.hasMirror { sites[index].dueMirrored -= 1 }
    if sites[index].dueRetries.first == retry {
      _ = sites[index].dueRetries.popFirst()
    } else {
      sites[index].dueRetries.removeAll { $0 == retry }
    }
  }

  // MARK: Ranks

  /// The site that comes first, whether or not its host has room.
  var first: Ranked? {
    mutating get {
      while let first = ranked.first {
        if sites[first.site].version == first.version { return first }
        _ = ranked.popFirst()
      }
      return nil
    }
  }

  /// Ranks a site after a change, unless it waits for room.
  mutating func rank(_ index: Int, quanta: Int) {
    guard !sites[index].isBlocked else { return }
    guard let key = sites[index].key else { return sites[index].version = 0 }
    versions += 1
    sites[index].version = versions
    ranked.insert(Ranked(rank: Rank(key, quanta: quanta), site: index, version: versions))
  }

  /// Removes the first site from the ranking until its host has room.
  mutating func blockFirst() {
    guard let first = ranked.popFirst() else { return }
    sites[first.site].isBlocked = true
    blocked.insert(first.site)
    sites[first.site].version = 0
  }

  mutating func unblock(_ index: Int, quanta: Int) {
    sites[index].isBlocked = false
    blocked.remove(index)
    rank(index, quanta: quanta)
  }

  /// Sets `head`, provided that the host of the first site has room.
  /// - Parameters:
  ///   - mayAskUnknown: Whether hosts that were not started may be asked.
  ///   - prefersUnknown: Whether such a host comes before all others: one name that never resolves must not use all trials.
  mutating func findHead(mayAskUnknown: Bool, prefersUnknown: Bool) {
    let next = mayAskUnknown ? upcoming.map { Rank($0, quanta: 0) } : nil
    if let first, next.map({ !prefersUnknown && first.rank < $0 }) ?? true {
      head = Head(priority: first.rank.priority, site: first.site)
    } else {
      head = next.map { Head(priority: $0.priority, site: nil) }
    }
  }
}
