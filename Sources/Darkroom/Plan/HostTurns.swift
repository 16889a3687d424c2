/// Decides which host's turn it is, so that no host keeps another waiting. It knows values only: no files, no threads.
///
/// Next is, of the hosts that have room: that with the entry of the highest priority; then that which has spent the
/// least time in the download queue, to ten seconds; then that whose entry comes first in the manifest. So a manifest is
/// worked on in its order, connections stay warm, and hosts that are slow fall behind the others instead of keeping all
/// places.
///
/// It holds the hosts that have been begun and have something left: a few, however many the manifest names. Times are
/// milliseconds of any clock.
struct HostTurns {
  /// Where an entry stands: by priority, then in the manifest.
  struct Key: Comparable, Hashable {
    /// 0 for the highest priority.
    let turn: Int
    let position: Int

    static func < (a: Key, b: Key) -> Bool { (a.turn, a.position) < (b.turn, b.position) }
  }

  /// An entry to be tried again.
  struct Retry: Equatable, Comparable {
    let key: Key
    let host: Int

    /// How often it was tried.
    let attempts: Int

    /// How often of that does not count: its host asked to be left alone, or it was another mirror's.
    var uncounted = 0

    /// Which of its URLs is in use, from 0.
    var mirror = 0

    /// How often that one was tried.
    var attemptsAtMirror = 0

    static func < (a: Retry, b: Retry) -> Bool { a.key < b.key }
  }

  /// How a host answered.
  enum Answer: Equatable {
    case served
    /// It asked to be left alone, for so many seconds if it said so.
    case refused(Double?)
    /// It did not, or its answer tells nothing about how much it can bear.
    case none
  }

  /// What comes next.
  enum Choice: Equatable {
    case retry(Retry)
    /// The next entry of a host that was begun.
    case host(Int)
    /// The first entry of the next host that was not.
    case upcoming
  }

  private struct Host {
    /// Its next entry that was not begun; nil when there is none.
    var next: Key?
    /// Entries that are to be tried again now.
    var again = PriorityQueue<Retry>()
    /// How many wait to be tried again.
    var waiting = 0
    var downloading = 0
    var throttle = Throttle()
    /// Milliseconds in the download queue.
    var spent = 0
    /// Which of all changes was its last.
    var version = 0

    var key: Key? { [next, again.first?.key].compactMap { $0 }.min() }
  }

  /// A host that may be begun, as it was at a version.
  private struct Ready: Comparable {
    let rank: Rank
    let host: Int
    let version: Int

    static func < (a: Ready, b: Ready) -> Bool { a.rank < b.rank }
  }

  /// The order of hosts: what is less comes first.
  private struct Rank: Comparable {
    let turn: Int
    let quanta: Int
    let position: Int

    static func < (a: Rank, b: Rank) -> Bool {
      (a.turn, a.quanta, a.position) < (b.turn, b.quanta, b.position)
    }
  }

  /// The end of a wait: of an entry, or of its host.
  private struct Alarm: Comparable {
    let due: Int
    let host: Int
    let retry: Retry?

    static func < (a: Alarm, b: Alarm) -> Bool { a.due < b.due }
  }

  /// Less than this, in milliseconds, does not put a host behind another.
  static let quantum = 10_000

  /// The host of everything that is not downloaded from a server: it has no limit.
  static let files = 0

  private var hosts: [Int: Host] = [:]
  private var alarms = PriorityQueue<Alarm>()

  /// The hosts that may be begun, but for those that have changed, and what they were earlier.
  private var ready = PriorityQueue<Ready>()
  private var changed: Set<Int> = []
  private var changes = 0

  /// How many entries wait to be tried again.
  private(set) var waitingRetries = 0

  /// What is to be begun now; nil when there is nothing.
  /// - Parameter upcoming: The first entry of the next host that was not begun.
  mutating func choose(now: Int, perHost: Int, upcoming: Key?) -> Choice? {
    wake(now)
    for host in changed { place(host, now, perHost) }
    changed = []
    while let first = ready.first, first.version != hosts[first.host]?.version { _ = ready.popFirst() }
    let rank = upcoming.map { Rank(turn: $0.turn, quanta: 0, position: $0.position) }
    guard let first = ready.first, rank.map({ first.rank < $0 }) ?? true, let host = hosts[first.host] else {
      return upcoming == nil ? nil : .upcoming
    }
    if let retry = host.again.first, host.next.map({ retry.key < $0 }) ?? true { return .retry(retry) }
    return .host(first.host)
  }

  /// A host's next entry that was not begun.
  func next(of host: Int) -> Key? { hosts[host]?.next }

  /// An entry of a host is begun.
  /// - Parameter next: The host's next entry after it.
  mutating func begin(host: Int, next: Key?, now: Int) {
    hosts[host, default: Host()].next = next
    begin(host, now)
  }

  /// Whether something of a host was begun, or is to be tried again.
  func knows(_ host: Int) -> Bool { hosts[host] != nil }

  /// Takes up a host that is not like any other: its first entry is begun when it may be.
  /// - Parameters:
  ///   - next: Its first entry; nil when it has none of its own.
  ///   - throttle: What it is allowed; nil when that is known.
  mutating func meet(host: Int, next: Key?, _ throttle: Throttle?) {
    hosts[host, default: Host()].next = next
    if let throttle { hosts[host]?.throttle = throttle }
    changed.insert(host)
  }

  /// The first of a host's entries that are to be tried again is begun.
  mutating func beginRetry(host: Int, now: Int) {
    _ = hosts[host]?.again.popFirst()
    begin(host, now)
  }

  private mutating func begin(_ host: Int, _ now: Int) {
    hosts[host]?.downloading += 1
    hosts[host]?.throttle.begin(now: now)
    changed.insert(host)
  }

  /// A download has ended, well or not.
  /// - Parameters:
  ///   - milliseconds: How long it was in the queue.
  ///   - begun: Since when.
  /// - Returns: How long the host will be left alone, in seconds, if that is new.
  mutating func leave(
    host number: Int, spending milliseconds: Int, begun: Int, _ answer: Answer, now: Int, backoff: Backoff
  ) -> Double? {
    guard var host = hosts[number] else { return nil }
    host.downloading -= 1
    host.spent += milliseconds
    var hold: Double?
    switch answer {
    case .served: host.throttle.served()
    case .refused(let asked):
      hold = host.throttle.refused(asked: asked, begun: begun, now: now, backoff: backoff)
    case .none: break
    }
    hosts[number] = host
    changed.insert(number)
    return hold
  }

  /// What a host is allowed.
  func throttle(of host: Int) -> Throttle { hosts[host]?.throttle ?? Throttle() }

  /// The hosts that are left alone, and until when.
  func held(now: Int) -> [(host: Int, until: Int)] {
    hosts.compactMap { $1.throttle.until > now ? ($0, $1.throttle.until) : nil }
  }

  /// Has an entry tried again from `due` on.
  mutating func retry(_ retry: Retry, due: Int) {
    hosts[retry.host, default: Host()].waiting += 1
    waitingRetries += 1
    alarms.insert(Alarm(due: due, host: retry.host, retry: retry))
  }

  /// Forgets a host that has nothing left. To be called when what became of its last download is known.
  mutating func forgetIfDone(host number: Int) {
    guard let host = hosts[number], host.key == nil, host.waiting == 0, host.downloading == 0 else { return }
    hosts[number] = nil
  }

  /// When the next wait of an entry or of a host will be over, or was since `choose` was last called; nil when none waits.
  var nextChange: Int? { alarms.first?.due }

  /// Retries whose time has come are entries like others.
  private mutating func wake(_ now: Int) {
    while let alarm = alarms.first, alarm.due <= now {
      _ = alarms.popFirst()
      changed.insert(alarm.host)
      guard let retry = alarm.retry else { continue }
      waitingRetries -= 1
      hosts[alarm.host]?.waiting -= 1
      hosts[alarm.host]?.again.insert(retry)
    }
  }

  /// Has a host stand where it belongs after a change.
  private mutating func place(_ number: Int, _ now: Int, _ perHost: Int) {
    guard let host = hosts[number] else { return }
    changes += 1
    hosts[number]?.version = changes
    let room = number == Self.files ? .max : min(perHost, host.throttle.room)
    guard let key = host.key, host.downloading < room else { return }
    guard host.throttle.opens <= now else {
      return alarms.insert(Alarm(due: host.throttle.opens, host: number, retry: nil))
    }
    let rank = Rank(turn: key.turn, quanta: host.spent / Self.quantum, position: key.position)
    ready.insert(Ready(rank: rank, host: number, version: changes))
  }
}
