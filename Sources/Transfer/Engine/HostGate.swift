/// Limits how many elements of a host occupy a slot at once; the others wait in order.
///
/// libcurl has such a limit, too, but counts the time that a handle waits against its timeout.
struct HostGate<Element> {
  private struct Host {
    var limit: StreamLimit
    var occupied = 0
    var waiting: [Element] = []

    /// The methods change the array in place: a copy of it would cost time in proportion to what waits.
    mutating func acquire(_ element: Element) -> Bool {
      let isFree = occupied < limit.transfers
      if isFree { occupied += 1 } else { waiting.append(element) }
      return isFree
    }

    mutating func next() -> Element? {
      guard !waiting.isEmpty, occupied < limit.transfers else { return nil }
      occupied += 1
      return waiting.removeFirst()
    }

    /// Returns whether anything is left.
    mutating func release() -> Bool {
      occupied -= 1
      return occupied > 0 || !waiting.isEmpty
    }
  }

  private let limit: HostLimit

  /// The hosts with elements.
  private var hosts: [String: Host] = [:]

  init(limit: HostLimit) { self.limit = limit }

  /// Occupies a slot. Returns whether one was free; otherwise `element` waits until `next` returns it.
  mutating func acquire(_ host: String, _ element: Element) -> Bool {
    hosts[host, default: Host(limit: StreamLimit(limit))].acquire(element)
  }

  /// Releases a slot.
  mutating func release(_ host: String) {
    if hosts[host]?.release() == false { hosts[host] = nil }
  }

  /// The next element that has waited, if there is a slot, which it occupies from now on.
  mutating func next(_ host: String) -> Element? { hosts[host]?.next() }

  /// Whether the last answer of the host came with HTTP/2. `nil`: there was none since it had no elements.
  func isHTTP2(_ host: String) -> Bool? { hosts[host]?.limit.isHTTP2 }

  /// Counts an answer of a host, which may change its limit.
  mutating func count(_ host: String, isHTTP2: Bool, isReused: Bool, couldShare: Bool) {
    hosts[host]?.limit.count(isHTTP2: isHTTP2, isReused: isReused, couldShare: couldShare)
  }

  /// Removes and returns the waiting elements that match.
  mutating func removeWaiting(where matches: (Element) -> Bool) -> [Element] {
    var removed: [Element] = []
    for (host, state) in hosts where state.waiting.contains(where: matches) {
      removed += state.waiting.filter(matches)
      hosts[host]?.waiting.removeAll(where: matches)
    }
    return removed
  }
}
