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
  struct Retry: Equatable {
    let key: Key
    let host: Int

    /// How often it was tried.
    let attempts: Int
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
    var again: [Retry] = []
    /// How many wait to be tried again.
    var waiting = 0
    var downloading = 0
    /// Until when nothing of it is begun.
    var held = 0
    /// Milliseconds in the download queue, in units of `quantum`.
    var spent = 0

    var key: Key? { [next, again.first?.key].compactMap { $0 }.min() }
  }

  /// Less than this, in milliseconds, does not put a host behind another.
  static let quantum = 10_000

  /// The host of everything that is not downloaded from a server: it has no limit.
  static let files = 0

  private var hosts: [Int: Host] = [:]
  private var waiting: [(due: Int, retry: Retry)] = []

  /// How many entries wait to be tried again.
  var waitingRetries: Int { waiting.count }

  /// What is to be begun now; nil when there is nothing.
  /// - Parameters:
  ///   - perHost: So many downloads from one host at once.
  ///   - upcoming: The first entry of the next host that was not begun.
  mutating func choose(now: Int, perHost: Int, upcoming: Key?) -> Choice? {
    wake(now)
    var best = upcoming.map { (rank: ($0.turn, 0, $0.position), choice: Choice.upcoming) }
    for (number, host) in hosts {
      guard let key = host.key, host.held <= now, host.downloading < perHost || number == Self.files else { continue }
      let rank = (key.turn, host.spent / Self.quantum, key.position)
      if let best, best.rank <= rank { continue }
      best = (rank, key == host.next ? .host(number) : .retry(host.again[0]))
    }
    return best?.choice
  }

  /// A host's next entry that was not begun.
  func next(of host: Int) -> Key? { hosts[host]?.next }

  /// An entry of a host is begun.
  /// - Parameter next: The host's next entry after it.
  mutating func begin(host: Int, next: Key?) {
    hosts[host, default: Host()].downloading += 1
    hosts[host]?.next = next
  }

  /// An entry is begun again.
  mutating func begin(_ retry: Retry) {
    hosts[retry.host]?.again.removeAll { $0 == retry }
    hosts[retry.host]?.downloading += 1
  }

  /// A download has ended, well or not, after so many milliseconds in the queue.
  mutating func leave(host: Int, spending milliseconds: Int) {
    hosts[host]?.downloading -= 1
    hosts[host]?.spent += milliseconds
  }

  /// Has an entry tried again from `due` on.
  mutating func retry(_ retry: Retry, due: Int) {
    hosts[retry.host, default: Host()].waiting += 1
    let place = waiting.firstIndex { $0.due < due } ?? waiting.endIndex
    waiting.insert((due, retry), at: place)
  }

  /// Begins nothing of a host until then.
  mutating func hold(host: Int, until: Int) {
    guard host != Self.files else { return }
    hosts[host, default: Host()].held = max(hosts[host]?.held ?? 0, until)
  }

  /// Forgets a host that has nothing left. To be called when what became of its last download is known.
  mutating func forgetIfDone(host number: Int, now: Int) {
    guard let host = hosts[number], host.key == nil, host.waiting == 0, host.downloading == 0, host.held <= now else {
      return
    }
    hosts[number] = nil
  }

  /// When the next wait of an entry or of a host will be over; nil when none waits. What is over, and finds no room, does
  /// not count.
  func nextChange(after now: Int) -> Int? {
    let held = hosts.values.lazy.map(\.held).filter { $0 > now }.min()
    let due = waiting.last { $0.due > now }?.due
    return [held, due].compactMap { $0 }.min()
  }

  /// Retries whose time has come are entries like others. The last is due first.
  private mutating func wake(_ now: Int) {
    while let last = waiting.last, last.due <= now {
      waiting.removeLast()
      hosts[last.retry.host]?.waiting -= 1
      hosts[last.retry.host]?.again.append(last.retry)
      hosts[last.retry.host]?.again.sort { $0.key < $1.key }
    }
  }
}
