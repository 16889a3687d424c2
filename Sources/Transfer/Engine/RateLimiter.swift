/// Keeps all transfers together, and those of each host with a limit, below their rates: decides which transfer pauses when a
/// piece of its body arrives, and when it continues.
///
/// Transfers continue in the order of their pauses. `ID` identifies one.
final class RateLimiter<ID: Hashable> {
  private struct Host {
    var running = 0
    var budget: ByteBudget
  }

  private var total: ByteBudget?

  /// The hosts with a limit.
  private var hosts: [String: Host] = [:]

  /// The pauses of a host's transfers.
  private struct Pauses {
    /// The number of its running transfers, and of the paused ones among them.
    var running = 0
    var paused = 0
    /// The total time in which any was paused, until `since`.
    var time = 0.0
    /// The time since which any is paused.
    var since = 0.0
  }

  /// The hosts with transfers.
  private var pauses: [String: Pauses] = [:]

  /// In the order of their pauses.
  private var paused: [(id: ID, host: String)] = []

  /// The earliest time at which a paused transfer may continue. `.infinity`: none is paused.
  private(set) var due = Double.infinity

  /// - Parameters:
  ///   - total: The limit of all transfers together, in bytes per second. `nil`: none.
  ///   - now: In seconds, of the clock that all methods use; it must not jump.
  init(total: Int?, now: Double) { self.total = total.map { ByteBudget(rate: $0, now: now) } }

  /// Sets the limit of a host, in bytes per second. `nil`: none.
  func limit(_ host: String, to limit: Int?, now: Double) {
    guard let limit else {
      if let known = hosts[host], known.running == 0 { hosts[host] = nil }
      return
    }
    // The number that is remembered before those without transfers and debts are removed.
    if hosts[host] == nil, hosts.count >= 1024 {
      hosts = hosts.filter { $0.value.running > 0 || $0.value.budget.opens > now }
    }
    hosts[host, default: Host(budget: ByteBudget(rate: limit, now: now))].budget.rate = max(1, limit)
  }

  /// The rate limit of a host's transfers, in bytes per second. `nil`: none.
  func rate(_ host: String) -> Int? {
    guard let limit = hosts[host]?.budget.rate else { return total?.rate }
    return min(limit, total?.rate ?? limit)
  }

  /// Counts a new transfer.
  func begin(_ host: String) {
    hosts[host]?.running += 1
    pauses[host, default: Pauses()].running += 1
  }

  /// Counts an ended transfer, paused or not.
  func end(_ id: ID, of host: String, now: Double) {
    if let running = hosts[host]?.running { hosts[host]?.running = max(0, running - 1) }
    if paused.contains(where: { $0.id == id }) {
      paused.removeAll { $0.id == id }
      pauseEnds(host, now)
    }
    if paused.isEmpty { due = .infinity }
    pauses[host]?.running -= 1
    if pauses[host]?.running ?? 0 <= 0 { pauses[host] = nil }
  }

  /// The time for which any transfer of a host was paused, in seconds, since it had none.
  func pausedTime(of host: String, now: Double) -> Double {
    pauses[host].map { $0.time + ($0.paused > 0 ? now - $0.since : 0) } ?? 0
  }

  private func pauseBegins(_ host: String, _ now: Double) {
    if pauses[host]?.paused == 0 { pauses[host]?.since = now }
    pauses[host]?.paused += 1
  }

  private func pauseEnds(_ host: String, _ now: Double) {
    guard let pause = pauses[host] else { return }
    pauses[host]?.paused -= 1
    if pause.paused == 1 { pauses[host]?.time += now - pause.since }
  }

  /// Counts a received piece of a body, if its transfer may receive it now. Otherwise the transfer must pause until `next`
  /// returns it, and then receives the piece again.
  func receive(_ bytes: Int, by id: ID, of host: String, now: Double) -> Bool {
    guard total?.isOpen(now) ?? true, hosts[host]?.budget.isOpen(now) ?? true else {
      paused.append((id, host))
      pauseBegins(host, now)
      due = min(due, opens(host))
      return false
    }
    total?.spend(bytes, now: now)
    hosts[host]?.budget.spend(bytes, now: now)
    return true
  }

  /// Whether the limit of all transfers together allows data now.
  func isTotalOpen(now: Double) -> Bool { total?.isOpen(now) ?? true }

  /// Removes the first paused transfer that may continue. `nil`: none may.
  func next(now: Double) -> ID? {
    guard due <= now else { return nil }
    guard let index = paused.firstIndex(where: { opens($0.host) <= now }) else {
      due = paused.map { opens($0.host) }.min() ?? .infinity
      return nil
    }
    let next = paused.remove(at: index)
    pauseEnds(next.host, now)
    return next.id
  }

  private func opens(_ host: String) -> Double { max(total?.opens ?? 0, hosts[host]?.budget.opens ?? 0) }
}

/// The number of bytes that may arrive at a rate: a token bucket. Bytes beyond it are a debt that is paid by time.
struct ByteBudget {
  /// Bytes per second, at least 1.
  var rate: Int

  /// The bytes that may arrive at once; negative: the debt. As of `time`.
  private var level: Double
  private var time: Double

  /// - Parameter now: In seconds, of any clock that does not jump.
  init(rate: Int, now: Double) {
    self.rate = max(1, rate)
    (level, time) = (0, now)
    level = burst
  }

  /// The bytes that may arrive at once after a pause: 64 KiB, or those of 50 ms if that is more.
  private var burst: Double { max(Double(64 << 10), Double(rate) * 0.05) }

  /// The bytes that must be available before a waiting transfer continues, so that it does not wait again for each piece:
  /// those of 20 ms, but at most a quarter of the burst.
  private var step: Double { min(burst / 4, Double(rate) * 0.02) }

  private func level(_ now: Double) -> Double { min(level + Double(rate) * max(0, now - time), burst) }

  /// Whether there is no debt.
  func isOpen(_ now: Double) -> Bool { level(now) > 0 }

  /// Counts received bytes.
  mutating func spend(_ bytes: Int, now: Double) {
    level = level(now) - Double(bytes)
    time = max(time, now)
  }

  /// The time at which a waiting transfer may continue.
  var opens: Double { time + max(0, step - level) / Double(rate) }
}
