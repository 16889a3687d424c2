import System

/// Limits the number of elements of a host with a slot; the others wait in order.
///
/// libcurl has such a limit, too, but counts the waiting time of a handle against its timeout.
struct HostGate<Element> {
  private struct Host {
    var limit: StreamLimit
    var occupied = 0
    var slow = 0
    var waiting: [Element] = []

    /// Unless the limit is fixed, slow elements leave one slot to others.
    var isFree: Bool { occupied < limit.transfers || !limit.isFixed && occupied < min(slow + 1, 2 * limit.transfers) }

    /// The methods change the array in place: a copy would cost time in proportion to the waiting elements.
    mutating func acquire(_ element: Element) -> Bool {
      let isFree = isFree
      if isFree { occupied += 1 } else { waiting.append(element) }
      return isFree
    }

    mutating func next() -> Element? {
      guard !waiting.isEmpty, isFree else { return nil }
      occupied += 1
      return waiting.removeFirst()
    }

    /// Returns whether any element is left.
    mutating func release() -> Bool {
      occupied -= 1
      return occupied > 0 || !waiting.isEmpty
    }
  }

  private let limit: HostLimit

  /// The hosts with elements.
  private var hosts: [String: Host] = [:]

  init(limit: HostLimit) { self.limit = limit }

  /// Whether there are no elements, with a slot or without.
  var isEmpty: Bool { hosts.isEmpty }

  /// Takes a slot. Returns whether one was free; otherwise `element` waits until `next` returns it.
  mutating func acquire(_ host: String, _ element: Element) -> Bool {
    hosts[host, default: Host(limit: StreamLimit(limit))].acquire(element)
  }

  mutating func release(_ host: String) {
    if hosts[host]?.release() == false { hosts[host] = nil }
  }

  /// Records that an element with a slot is slow.
  mutating func slowBegan(_ host: String) { hosts[host]?.slow += 1 }

  /// Records that a slow element is about to release its slot.
  mutating func slowEnded(_ host: String) { hosts[host]?.slow -= 1 }

  /// The next waiting element, if there is a slot, which it takes.
  mutating func next(_ host: String) -> Element? { hosts[host]?.next() }

  /// Whether the last answer of the host came over HTTP/2. `nil`: there was none since it had no elements.
  func isHTTP2(_ host: String) -> Bool? { hosts[host]?.limit.isHTTP2 }

  /// Counts an answer of a host, which may change its limit.
  mutating func count(_ host: String, isHTTP2: Bool, isReused: Bool, couldShare: Bool) {
    hosts[host]?.limit.count(isHTTP2: isHTTP2, isReused: isReused, couldShare: couldShare)
  }

  /// Whether elements wait for a slot of the host because slow ones have all of them.
  func isFullOfSlow(_ host: String) -> Bool {
    guard let host = hosts[host] else { return false }
    return host.occupied > 0 && host.slow >= host.occupied && !host.isFree
  }

  func waiting(_ host: String) -> [Element] { hosts[host]?.waiting ?? [] }

  /// The first waiting element that matches, whatever its host.
  func firstWaiting(where matches: (Element) -> Bool) -> Element? {
    hosts.values.lazy.flatMap(\.waiting).first(where: matches)
  }

  mutating func removeWaiting(where matches: (Element) -> Bool) -> [Element] {
    var removed: [Element] = []
    for (host, state) in hosts where state.waiting.contains(where: matches) {
      removed += state.waiting.filter(matches)
      hosts[host]?.waiting.removeAll(where: matches)
    }
    return removed
  }
}

/// The number of transfers of a host at once, learned from its answers.
///
/// A host that answers over HTTP/2 gets one more with each answer over an open connection, up to its streams. When a transfer
/// had to open another connection, the open ones had no room, because the server allows fewer streams; then the number
/// falls, and rises again only by one for each 128 answers.
struct StreamLimit {
  private(set) var transfers: Int

  /// Whether the last answer came over HTTP/2. `nil`: there was none.
  private(set) var isHTTP2: Bool?

  /// Whether it is a fixed number, whatever the host does.
  var isFixed: Bool { limit.connections == limit.streams }

  private let limit: HostLimit
  private var ceiling: Int
  private var answers = 0

  init(_ limit: HostLimit) {
    self.limit = limit
    (transfers, ceiling) = (max(1, limit.connections), max(1, limit.streams))
  }

  /// Counts an answer.
  /// - Parameters:
  ///   - isReused: Whether the connection was open before.
  ///   - couldShare: Whether the host was known to use HTTP/2 when the transfer began.
  mutating func count(isHTTP2: Bool, isReused: Bool, couldShare: Bool) {
    defer { self.isHTTP2 = isHTTP2 }
    guard isHTTP2 else {
      (transfers, ceiling, answers) = (max(1, limit.connections), max(1, limit.streams), 0)
      return
    }
    if isReused {
      answers += 1
      if answers.isMultiple(of: 128) { ceiling = min(ceiling + 1, max(1, limit.streams)) }
      transfers = min(transfers + 1, ceiling)
    } else if couldShare {
      ceiling = max(min(max(1, limit.connections), ceiling), min(ceiling, transfers) - 1)
      transfers = ceiling
    }
  }
}
