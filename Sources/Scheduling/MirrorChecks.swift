/// The closed hosts at which waiting entries may have got a mirror at an open host since they were last looked at.
struct MirrorChecks {
  /// How often all closed hosts are looked at, in milliseconds: a host that nobody uses may be tried again without a change.
  static let interval = 10_000

  private var hosts: Set<Int> = []
  private var isAllDue = false

  /// When all were last due.
  private var last: Int?

  /// Adds a host: it was closed, or another entry has come to wait there.
  mutating func add(_ host: Int) { hosts.insert(host) }

  /// Adds all closed hosts, because another has opened.
  mutating func addAll() { isAllDue = true }

  /// Whether all closed hosts are to be looked at.
  func isAllDue(now: Int) -> Bool { isAllDue || last.map { now >= $0 + Self.interval } ?? true }

  /// Begins to look at all closed hosts.
  mutating func begin(_ closed: [Int], now: Int) {
    hosts = Set(closed)
    (isAllDue, last) = (false, now)
  }

  /// Removes and returns one of the hosts; nil when there is none.
  mutating func next() -> Int? { hosts.popFirst() }
}
