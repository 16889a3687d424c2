import Synchronization

/// The progress of a transfer, for any thread. Times are milliseconds of the monotonic clock.
package final class TransferProgress: Sendable {
  /// The times in which bytes could arrive.
  private struct Flow {
    /// The beginning of the current request; nil without one: the transfer waits for a slot of a host.
    var began: Int?
    /// The duration of earlier requests.
    var before = 0
    var isBehindSlow = false
  }

  /// The rate that holds a transfer back: that of all transfers together, or that of its host.
  package enum RateHold: UInt8, Sendable, AtomicRepresentable { case none, total, host }

  private let received = Atomic(0)
  private let held = Atomic(RateHold.none)
  private let limited = Atomic(false)
  private let flow = Mutex(Flow())

  package init() {}

  /// Received bytes of bodies, redirects and error pages included.
  package var bytes: Int { received.load(ordering: .relaxed) }

  /// Whether its speed does not reflect the server: a rate limits it, or it has no speed.
  package var isLimited: Bool { limited.load(ordering: .relaxed) }

  package var rateHold: RateHold { held.load(ordering: .relaxed) }

  /// The time in which bytes could arrive: that of its requests, without waiting for a slot of a host or a name.
  package func flowTime(now: Int) -> Int {
    flow.withLock { flow in flow.before + (flow.began.map { max(0, now - $0) } ?? 0) }
  }

  /// Whether it waits for a slot of a host whose slots all belong to transfers that are too slow.
  package var isBehindSlow: Bool { flow.withLock { $0.isBehindSlow } }

  func add(_ bytes: Int) { received.wrappingAdd(bytes, ordering: .relaxed) }

  package func setLimited() { limited.store(true, ordering: .relaxed) }

  func setHeld(_ hold: RateHold) { held.store(hold, ordering: .relaxed) }

  func requestBegan(now: Int) {
    flow.withLock { flow in
      flow.began = now
      flow.isBehindSlow = false
    }
  }

  func requestEnded(now: Int) {
    flow.withLock { flow in
      if let began = flow.began { flow.before += max(0, now - began) }
      flow.began = nil
    }
  }

  /// Records whether it waits for transfers that are too slow.
  func setBehindSlow(_ isBehindSlow: Bool) { flow.withLock { $0.isBehindSlow = isBehindSlow } }
}
