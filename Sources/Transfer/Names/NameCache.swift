/// What is known of host names: their addresses, and which do not exist. Failures of the resolver are not remembered, nor that
/// a name does not exist which had addresses before: that may be an outage, whose end is to be noticed.
struct NameCache {
  private struct Entry {
    let lookup: NameLookup
    let began: Double
    var end: Double
  }

  /// How long addresses are valid; in seconds. The resolver does not tell how long they are.
  static let addressLifetime = 300.0

  /// How long a name that does not exist, or whose addresses cannot be connected to, is not asked for again; in seconds.
  static let shortLifetime = 60.0

  private let capacity: Int
  private var entries: [String: Entry] = [:]

  /// - Parameter capacity: How many names are remembered. Default: 16384.
  init(capacity: Int = 16384) { self.capacity = max(2, capacity) }

  /// What is known of a name; `nil`: nothing.
  /// - Parameter now: In seconds, of any clock that does not jump.
  func lookup(_ name: String, now: Double) -> NameLookup? {
    guard let entry = entries[name], now < entry.end else { return nil }
    return entry.lookup
  }

  /// Remembers a result, unless it is a failure of the resolver.
  mutating func insert(_ lookup: NameLookup, for name: String, now: Double) {
    let lifetime: Double
    switch lookup {
    case .addresses: lifetime = Self.addressLifetime
    case .notFound where entries[name].map { $0.lookup != .notFound } ?? false: return
    case .notFound: lifetime = Self.shortLifetime
    case .failed: return
    }
    if entries.count >= capacity, entries[name] == nil { makeRoom(now) }
    entries[name] = Entry(lookup: lookup, began: now, end: now + lifetime)
  }

  /// Has a name looked up again that has no address that can be connected to; not more often than once in
  /// `shortLifetime`, as many transfers may fail for the same reason.
  mutating func shortenLifetime(of name: String) {
    guard let entry = entries[name] else { return }
    entries[name]?.end = min(entry.end, entry.began + Self.shortLifetime)
  }

  /// Removes what is not valid any more, and at least half of all.
  private mutating func makeRoom(_ now: Double) {
    entries = entries.filter { now < $0.value.end }
    guard entries.count > capacity / 2 else { return }
    let newest = entries.sorted { $0.value.began > $1.value.began }.prefix(capacity / 2)
    entries = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
  }
}
