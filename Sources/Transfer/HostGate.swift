/// Lets at most so many elements of a host pass at once; the others wait in order.
///
/// libcurl has such a limit, too, but lets the time that a handle waits there count against its timeout.
struct HostGate<Element> {
  private let limit: Int
  private var inside: [String: Int] = [:]
  private var waiting: [String: [Element]] = [:]

  init(limit: Int) { self.limit = max(1, limit) }

  /// Asks to pass. Returns whether it may; otherwise `element` waits until `leave` returns it.
  mutating func enter(_ host: String, _ element: Element) -> Bool {
    let count = inside[host, default: 0]
    if count < limit {
      inside[host] = count + 1
      return true
    }
    waiting[host, default: []].append(element)
    return false
  }

  /// Tells that one has finished. Returns the one that passes in its place.
  mutating func leave(_ host: String) -> Element? {
    if var queue = waiting.removeValue(forKey: host) {
      let next = queue.removeFirst()
      if !queue.isEmpty { waiting[host] = queue }
      return next
    }
    let count = inside[host, default: 1] - 1
    inside[host] = count > 0 ? count : nil
    return nil
  }

  /// Takes out the waiting elements that match.
  mutating func withdraw(where matches: (Element) -> Bool) -> [Element] {
    var taken: [Element] = []
    for (host, queue) in waiting where queue.contains(where: matches) {
      taken += queue.filter(matches)
      let rest = queue.filter { !matches($0) }
      waiting[host] = rest.isEmpty ? nil : rest
    }
    return taken
  }
}
