import Model
import System

/// The errors of the machine that suspend the queues: a missing outbox, a ledger that cannot be written, a full disk.
struct MachineFailures {
  /// How long one failure suspends the queues, in seconds.
  static let pause = 5.0

  /// Why the outbox is not where it was, as of the last scan; nil when it is.
  var outboxTrouble: StopError?

  /// The last error of the machine since a successful write.
  private var suspected: String?

  /// Why nothing can be recorded, and when that assumption expires, as `Clock.monotonicSeconds`.
  private var failing: (reason: String, until: Double, isOfDisk: Bool)?

  /// Until when the queues are suspended because a write failed for want of space, as `Clock.monotonicSeconds`.
  private(set) var diskFullUntil = 0.0

  /// Since when, as `Clock.monotonicMilliseconds`, writing has failed for want of space without a success in between.
  private(set) var stuckSince: Int?

  /// When something could be written last, as `Clock.monotonicSeconds`.
  private(set) var lastWritten: Double

  /// Whether the causes of pauses are to be checked.
  var needsScan = false

  /// - Parameter now: Seconds of the monotonic clock.
  init(now: Double) { lastWritten = now }

  /// Records an error of the machine. If nothing else can be written either, the queues are suspended until it can; not for
  /// want of descriptors or memory, which running operations release.
  mutating func suspect(_ error: any Error) {
    if suspected == nil { needsScan = true }
    suspected = "\(error)"
  }

  /// Records that nothing can be recorded for a while. For want of descriptors or memory that suspends nothing.
  mutating func fail(_ error: any Error, now: Double) {
    (failing, needsScan) = (("\(error)", now + Self.pause, !error.isExhaustion), true)
  }

  /// Records that something could not be written for want of space.
  /// - Parameter isForAll: Whether that suspends the queues.
  mutating func waitForSpace(now: Double, isForAll: Bool) {
    if isForAll { diskFullUntil = now + Self.pause }
    (stuckSince, needsScan) = (stuckSince ?? Int(now * 1000), true)
  }

  /// Records that something could be written.
  mutating func wroteSomething(now: Double) { (stuckSince, failing, lastWritten) = (nil, nil, now) }

  /// Records that there was room for the plan of a job.
  mutating func plannedSomething() { stuckSince = nil }

  /// Checks why nothing can be written; nil when something can.
  /// - Parameter probe: Tries to write, and returns why that fails. Called only after an error.
  mutating func check(now: Double, probe: () -> SystemError?) -> String? {
    // A missing outbox is the cause of the other errors.
    if let outboxTrouble { return "\(outboxTrouble); nothing is lost, and the work goes on when it is back" }
    if let failing, failing.isOfDisk, now < failing.until { return failing.reason }
    guard suspected != nil else { return nil }
    if let error = probe(), !error.isOutOfSpace, !error.isExhaustion { return error.description }
    suspected = nil
    return nil
  }

  /// An error of the machine's that holds, in words; nil when none is known.
  func reason(now: Double) -> String? {
    if let failing, now < failing.until { return failing.reason }
    return suspected
  }
}
