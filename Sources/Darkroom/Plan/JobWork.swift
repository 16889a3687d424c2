import Ledger

/// What of a job is left to be begun: entries from its index, in the order that `HostTurns` decides.
final class JobWork {
  /// An entry to be begun.
  struct Next {
    let row: JobIndexRow

    /// How often it was tried before.
    let attempts: Int
  }

  /// What one try of an entry took from its host.
  struct Usage: Equatable {
    var milliseconds = 0
    var requests = 0
    var bytes = 0
    var reused = 0
  }

  private let index: JobIndex
  private var turns = HostTurns()
  private(set) var transfers = Transfers()

  /// Hosts whose first entry was not begun, with that entry, a page of them.
  private var upcoming: ArraySlice<(host: Int, key: HostTurns.Key)> = []
  private var lastUpcoming: HostTurns.Key?
  private var hasMoreUpcoming = true

  /// Where the entries stand whose end is not known.
  private var begun: [Int: (host: Int, key: HostTurns.Key, attempts: Int, isDownloading: Bool)] = [:]

  /// - Parameter index: Its names are settled, and what has ended is marked.
  /// - Throws: `SQLiteError`.
  init(_ index: JobIndex) throws {
    self.index = index
    try index.prepareWork()
  }

  /// The next entry to begin; nil when there is none that may be begun now.
  func next(now: Int, perHost: Int) throws -> Next? {
    if upcoming.isEmpty, hasMoreUpcoming {
      upcoming = try index.hosts(after: lastUpcoming, limit: 256)[...]
      hasMoreUpcoming = !upcoming.isEmpty
    }
    switch turns.choose(now: now, perHost: perHost, upcoming: upcoming.first?.key) {
    case nil: return nil
    case .retry(let retry):
      turns.begin(retry)
      return try begin(retry.key, of: retry.host, attempts: retry.attempts)
    case .host(let host):
      guard let key = turns.next(of: host) else { return nil }
      return try begin(fresh: key, of: host)
    case .upcoming:
      guard let (host, key) = upcoming.popFirst() else { return nil }
      lastUpcoming = key
      return try begin(fresh: key, of: host)
    }
  }

  private func begin(fresh key: HostTurns.Key, of host: Int) throws -> Next? {
    turns.begin(host: host, next: try index.next(ofHost: host, after: key))
    return try begin(key, of: host, attempts: 0)
  }

  private func begin(_ key: HostTurns.Key, of host: Int, attempts: Int) throws -> Next? {
    guard let row = try index.row(at: key.position) else { return nil }
    begun[key.position] = (host, key, attempts, true)
    return Next(row: row, attempts: attempts)
  }

  /// An entry's download has ended, well or not: its host has room for another.
  func leave(_ position: Int, _ usage: Usage) throws {
    guard let entry = begun[position], entry.isDownloading else { return }
    begun[position]?.isDownloading = false
    turns.leave(host: entry.host, spending: usage.milliseconds)
    guard entry.host != HostTurns.files else { return }
    transfers.add(
      Transfers.Counts(
        requests: usage.requests, retries: entry.attempts > 0 ? usage.requests : 0, bytes: usage.bytes,
        connections_reused: usage.reused), of: try index.hostName(entry.host) ?? "")
  }

  /// It is known what became of an entry: it will not be begun again.
  func end(_ position: Int, now: Int) {
    guard let entry = begun.removeValue(forKey: position) else { return }
    turns.forgetIfDone(host: entry.host, now: now)
  }

  /// Has an entry begun again, from `due` on.
  /// - Parameter attempts: How often it has been tried; nil when the last time does not count.
  func retry(_ position: Int, attempts: Int?, due: Int) {
    guard let entry = begun.removeValue(forKey: position) else { return }
    turns.retry(.init(key: entry.key, host: entry.host, attempts: attempts ?? entry.attempts), due: due)
  }

  /// Begins nothing of the host of an entry that was begun until then.
  func hold(hostOf position: Int, until: Int) {
    if let host = begun[position]?.host { turns.hold(host: host, until: until) }
  }

  /// When the next wait of an entry or of a host is over; nil when none waits.
  func nextChange(after now: Int) -> Int? { turns.nextChange(after: now) }

  /// How many entries wait to be tried again.
  var waitingRetries: Int { turns.waitingRetries }
}
