/// Limits how many elements of a host occupy a slot at once; the others wait in order.
///
/// libcurl has such a limit, too, but counts the time that a handle waits against its timeout.
struct HostGate<Element> {
  private let limit: Int
  private var occupied: [String: Int] = [:]
  private var waiting: [String: [Element]] = [:]

  init(limit: Int) { self.limit = max(1, limit) }

  /// Occupies a slot. Returns whether one was free; otherwise `element` waits until `release` returns it.
  mutating func acquire(_ host: String, _ element: Element) -> Bool {
    let count = occupied[host, default: 0]
    if count < limit {
      occupied[host] = count + 1
      return true
    }
    waiting[host, default: []].append(element)
    return false
  }

  /// Releases a slot. Returns the element that occupies it from now on, if one was waiting.
  mutating func release(_ host: String) -> Element? {
    if var queue = waiting.removeValue(forKey: host) {
      let next = queue.removeFirst()
      if !queue.isEmpty { waiting[host] = queue }
      return next
    }
    let count = occupied[host, default: 1] - 1
    occupied[host] = count > 0 ? count : nil
    return nil
  }

  /// Removes and returns the waiting elements that match.
  mutating func removeWaiting(where matches: (Element) -> Bool) -> [Element] {
    var removed: [Element] = []
    for (host, queue) in waiting where queue.contains(where: matches) {
      removed += queue.filter(matches)
      let rest = queue.filter { !matches($0) }
      waiting[host] = rest.isEmpty ? nil : rest
    }
    return removed
  }
}
