/// Decides which names are looked up, and which elements wait for them: one lookup of a name at a time, whose result goes to
/// all that wait for it and into a cache.
struct NameRequests<Element> {
  private struct Waiting {
    let element: Element
    let deadline: Double
  }

  /// The next step of a request.
  enum Step: Equatable {
    case known(NameLookup)
    /// The element waits; the name must be looked up.
    case lookUp
    /// The element waits for a lookup under way.
    case wait
  }

  private var cache: NameCache
  private var waiting: [String: [Waiting]] = [:]

  /// Names that no element waits for any more.
  private var abandoned: Set<String> = []

  /// At or before the earliest deadline; exact after `removeOverdue`. Infinite without any.
  private var earliestDeadline = Double.infinity

  init(cache: NameCache = NameCache()) { self.cache = cache }

  /// Requests a name.
  /// - Parameters:
  ///   - deadline: The end of the element's wait; in seconds of the clock of `now`.
  mutating func request(
    _ name: String, _ element: Element, now: Double, deadline: Double
  ) -> Step {
    if let lookup = cache.lookup(name, now: now) { return .known(lookup) }
    let isFirst = waiting[name] == nil
    earliestDeadline = min(earliestDeadline, deadline)
    waiting[name, default: []].append(Waiting(element: element, deadline: deadline))
    return isFirst ? .lookUp : .wait
  }

  /// Records the result of a lookup.
  /// - Returns: The elements that waited for it.
  mutating func finish(_ name: String, _ lookup: NameLookup, now: Double) -> [Element] {
    cache.insert(lookup, for: name, now: now)
    defer { if waiting.isEmpty { earliestDeadline = .infinity } }
    return waiting.removeValue(forKey: name)?.map(\.element) ?? []
  }

  /// Makes a name without a reachable address be looked up again.
  mutating func shortenLifetime(of name: String) { cache.shortenLifetime(of: name) }

  /// When to call `removeOverdue`: at or before the time at which the next element has waited too long. `nil` when none
  /// waits.
  var nextCheck: Double? { earliestDeadline == .infinity ? nil : earliestDeadline }

  /// Removes and returns the elements that have waited too long. A lookup under way goes on, because its result is useful
  /// later.
  mutating func removeOverdue(now: Double) -> [Element] {
    let removed = remove { $0.deadline <= now }
    earliestDeadline = waiting.values.lazy.flatMap { $0 }.map(\.deadline).min() ?? .infinity
    return removed
  }

  /// The first waiting element that matches, for any name.
  func firstWaiting(where matches: (Element) -> Bool) -> Element? {
    waiting.values.lazy.joined().map(\.element).first(where: matches)
  }

  mutating func removeWaiting(where matches: (Element) -> Bool) -> [Element] { remove { matches($0.element) } }

  /// Forgets the names that no element waits for.
  /// - Parameter withdraw: Returns whether a lookup of the name had not begun, and is dropped.
  mutating func forgetAbandoned(_ withdraw: (String) -> Bool) {
    for name in abandoned where waiting[name]?.isEmpty == true && withdraw(name) { waiting[name] = nil }
    abandoned = []
  }

  private mutating func remove(_ matches: (Waiting) -> Bool) -> [Element] {
    var removed: [Element] = []
    for (name, elements) in waiting where elements.contains(where: matches) {
      removed += elements.filter(matches).map(\.element)
      // An empty list stays until the lookup ends, so that no second one is started.
      let rest = elements.filter { !matches($0) }
      waiting[name] = rest
      if rest.isEmpty { abandoned.insert(name) }
    }
    return removed
  }
}

/// The known host names: their addresses, and which do not exist. Failures of the resolver are not cached, nor that a name does
/// not exist which had addresses before: that may be an outage, whose end must be noticed.
struct NameCache {
  private struct Entry {
    let lookup: NameLookup
    let began: Double
    var end: Double
  }

  /// The lifetime of addresses; in seconds. The resolver does not report it.
  static let addressLifetime = 300.0

  /// The lifetime of a name that does not exist, or whose addresses cannot be reached; in seconds.
  static let shortLifetime = 60.0

  private let capacity: Int
  private var entries: [String: Entry] = [:]

  /// - Parameter capacity: The number of cached names. Default: 16384.
  init(capacity: Int = 16384) { self.capacity = max(2, capacity) }

  /// The cached result for a name; `nil`: none.
  /// - Parameter now: In seconds, of any clock that does not jump.
  func lookup(_ name: String, now: Double) -> NameLookup? {
    guard let entry = entries[name], now < entry.end else { return nil }
    return entry.lookup
  }

  /// Caches a result, unless it is a failure of the resolver.
  mutating func insert(_ lookup: NameLookup, for name: String, now: Double) {
    let lifetime: Double
    switch lookup {
    case .addresses: lifetime = Self.addressLifetime
    case .notFound where entries[name].map { $0.lookup != .notFound } ?? false: return
    case .notFound: lifetime = Self.shortLifetime
    case .failed, .exhausted: return
    }
    if entries.count >= capacity, entries[name] == nil { makeRoom(now) }
    entries[name] = Entry(lookup: lookup, began: now, end: now + lifetime)
  }

  /// Makes a name without a reachable address be looked up again; at most once in `shortLifetime`, as many transfers may fail for
  /// the same reason.
  mutating func shortenLifetime(of name: String) {
    guard let entry = entries[name] else { return }
    entries[name]?.end = min(entry.end, entry.began + Self.shortLifetime)
  }

  /// Removes expired names, and at least half of all.
  private mutating func makeRoom(_ now: Double) {
    entries = entries.filter { now < $0.value.end }
    guard entries.count > capacity / 2 else { return }
    let newest = entries.sorted { $0.value.began > $1.value.began }.prefix(capacity / 2)
    entries = Dictionary(uniqueKeysWithValues: newest.map { ($0.key, $0.value) })
  }
}
