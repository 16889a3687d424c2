import Ledger
import Transfer

/// What of a job is left to be begun: entries from its index, in the order that `HostTurns` decides.
final class JobWork {
  /// An entry to be begun.
  struct Next {
    let row: JobIndexRow

    /// How often it was tried before.
    let attempts: Int

    /// Which of its URLs is to be asked, from 0.
    let mirror: Int
  }

  /// What one try of an entry took from its host.
  struct Usage: Equatable {
    var milliseconds = 0
    var requests = RequestCount()
    var bytes = 0
  }

  private let index: JobIndex
  private var turns = HostTurns()
  private(set) var transfers = Transfers()

  /// What earlier jobs found out about hosts.
  var memory = ThrottleMemory()

  /// Hosts whose first entry was not begun, with that entry, a page of them.
  private var upcoming: ArraySlice<(host: Int, key: HostTurns.Key)> = []
  private var lastUpcoming: HostTurns.Key?
  private var hasMoreUpcoming = true

  /// Where the entries stand whose end is not known.
  private var begun: [Int: Begun] = [:]

  private struct Begun {
    let host: Int
    let key: HostTurns.Key

    /// How often it was tried before.
    let attempts: Int

    /// How often of that does not count: its host asked to be left alone, or it was another mirror's.
    var uncounted = 0

    /// Which of its URLs is in use, from 0.
    var mirror = 0

    /// How often that one was tried before.
    var attemptsAtMirror = 0

    /// When it was begun, in milliseconds.
    let since: Int
    var isDownloading = true
  }

  /// - Parameter index: Its names are settled, and what has ended is marked.
  /// - Throws: `SQLiteError`.
  init(_ index: JobIndex) throws {
    self.index = index
    try index.prepareWork()
  }

  /// The next entry to begin; nil when there is none that may be begun now.
  func next(now: Int, perHost: Int) throws -> Next? {
    try fetchUpcoming()
    while let (host, key) = upcoming.first {
      let throttle = turns.knows(host) ? nil : try remembered(host, now: now)
      guard turns.knows(host) || throttle != nil else { break }
      // It may have no room: its turn is that of a host that was begun.
      turns.meet(host: host, next: key, throttle)
      passUpcoming(key)
      try fetchUpcoming()
    }
    switch turns.choose(now: now, perHost: perHost, upcoming: upcoming.first?.key) {
    case nil: return nil
    case .retry(let retry):
      turns.beginRetry(host: retry.host, now: now)
      return try begin(
        Begun(
          host: retry.host, key: retry.key, attempts: retry.attempts, uncounted: retry.uncounted,
          mirror: retry.mirror, attemptsAtMirror: retry.attemptsAtMirror, since: now))
    case .host(let host):
      guard let key = turns.next(of: host) else { return nil }
      return try begin(fresh: key, of: host, now: now)
    case .upcoming:
      guard let (host, key) = upcoming.first else { return nil }
      passUpcoming(key)
      return try begin(fresh: key, of: host, now: now)
    }
  }

  private func fetchUpcoming() throws {
    guard upcoming.isEmpty, hasMoreUpcoming else { return }
    upcoming = try index.hosts(after: lastUpcoming, limit: 256)[...]
    hasMoreUpcoming = !upcoming.isEmpty
  }

  private func passUpcoming(_ key: HostTurns.Key) {
    upcoming.removeFirst()
    lastUpcoming = key
  }

  /// What a host is allowed that asked an earlier job to be left alone; nil for most.
  private func remembered(_ host: Int, now: Int) throws -> Throttle? {
    guard !memory.isEmpty, let name = try index.hostName(host) else { return nil }
    return memory.throttle(of: name, now: now)
  }

  private func begin(fresh key: HostTurns.Key, of host: Int, now: Int) throws -> Next? {
    turns.begin(host: host, next: try index.next(ofHost: host, after: key), now: now)
    return try begin(Begun(host: host, key: key, attempts: 0, since: now))
  }

  private func begin(_ entry: Begun) throws -> Next? {
    guard let row = try index.row(at: entry.key.position) else { return nil }
    begun[entry.key.position] = entry
    return Next(row: row, attempts: entry.attempts, mirror: entry.mirror)
  }

  /// An entry's download has ended, well or not: its host has room for another.
  /// - Returns: How long the host will be left alone, in seconds, if that is new.
  func leave(
    _ position: Int, _ usage: Usage, _ answer: HostTurns.Answer, now: Int, backoff: Backoff
  ) throws -> Double? {
    guard let entry = begun[position], entry.isDownloading else { return nil }
    begun[position]?.isDownloading = false
    let hold = turns.leave(
      host: entry.host, spending: usage.milliseconds, begun: entry.since, answer, now: now, backoff: backoff)
    guard entry.host != HostTurns.files else { return nil }
    let name = try index.hostName(entry.host) ?? ""
    memory.note(turns.throttle(of: entry.host), of: name, now: now)
    transfers.add(
      Transfers.Counts(
        requests: usage.requests.sent, retries: entry.attemptsAtMirror > 0 ? usage.requests.sent : 0,
        bytes: usage.bytes, connections_reused: usage.requests.reused), of: name)
    return hold
  }

  /// It is known what became of an entry: it will not be begun again.
  func end(_ position: Int) {
    guard let entry = begun.removeValue(forKey: position) else { return }
    turns.forgetIfDone(host: entry.host)
  }

  /// Has an entry begun again, from `due` on.
  /// - Parameters:
  ///   - attempts: How often it has been tried; nil when the last time does not count.
  ///   - isRefused: Whether its host asked to be left alone the last time.
  func retry(_ position: Int, attempts: Int?, isRefused: Bool = false, due: Int) {
    guard let entry = begun.removeValue(forKey: position) else { return }
    turns.retry(
      .init(
        key: entry.key, host: entry.host, attempts: attempts ?? entry.attempts,
        uncounted: entry.uncounted + (isRefused ? 1 : 0), mirror: entry.mirror,
        attemptsAtMirror: entry.attemptsAtMirror + (attempts == nil ? 0 : 1)),
      due: due)
  }

  /// Has an entry begun again with its next mirror, at once.
  /// - Parameters:
  ///   - url: The mirror.
  ///   - attempts: How often it has been tried.
  func turn(_ position: Int, to url: String, attempts: Int, now: Int) throws {
    guard let entry = begun.removeValue(forKey: position) else { return }
    let host = try index.knownHost(of: url)
    if !turns.knows(host), let throttle = try remembered(host, now: now) { turns.meet(host: host, next: nil, throttle) }
    turns.retry(
      .init(key: entry.key, host: host, attempts: attempts, uncounted: attempts, mirror: entry.mirror + 1), due: now)
    turns.forgetIfDone(host: entry.host)
  }

  /// How many of the tries of an entry that was begun do not count, this one aside.
  func uncounted(of position: Int) -> Int { begun[position]?.uncounted ?? 0 }

  /// What the host of an entry that was begun is allowed.
  func throttle(ofHostOf position: Int) -> Throttle {
    begun[position].map { turns.throttle(of: $0.host) } ?? Throttle()
  }

  /// The hosts that are left alone, and until when: the first so many to be asked again, and how many there are.
  func heldHosts(now: Int, limit: Int) throws -> (hosts: [(name: String, until: Int)], total: Int) {
    let held = turns.held(now: now).sorted { $0.until < $1.until }
    return (try held.prefix(limit).map { (try index.hostName($0.host) ?? "", $0.until) }, held.count)
  }

  /// When the next wait of an entry or of a host is over, or was since `next` was last called; nil when none waits.
  var nextChange: Int? { turns.nextChange }

  /// How many entries wait to be tried again.
  var waitingRetries: Int { turns.waitingRetries }
}
