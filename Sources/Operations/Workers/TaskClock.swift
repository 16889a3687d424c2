/// Decides whether a worker takes too long for a task. A value type: the caller passes the time.
///
/// Processor time has a limit, and wall-clock time ten times that. An inactive worker is given up much earlier: after a
/// minute plus ten times the processor time that it has used, so that a worker that gets only a tenth of a processor
/// can continue.
struct TaskClock: Sendable {
  /// Seconds of processor time that the task may take.
  var limit: Double

  /// Seconds of wall-clock time of all tries.
  private(set) var elapsed: Double
  private let limits: WorkerLimits
  private var earlier: Double
  private var last: Double

  /// The longest time counted between two checks, in seconds. After more, this process and its workers were stopped.
  private static let longestStep = 1.0

  /// - Parameters:
  ///   - now: As `Clock.monotonicSeconds`.
  ///   - earlier: Seconds that earlier tries took.
  init(_ limits: WorkerLimits, now: Double, earlier: Double = 0) {
    self.limits = limits
    (limit, last, self.earlier, elapsed) = (limits.time(pixels: 0), now, earlier, earlier)
  }

  /// Begins another try. The limit for the picture stays.
  mutating func tryAgain(now: Double) { (earlier, last) = (elapsed, now) }

  /// Leaves out the time since the last check, in which the worker waited for this process.
  mutating func skip(to now: Double) { last = now }

  /// - Parameters:
  ///   - used: Seconds of processor time that the worker has used for the task.
  ///   - waitsForDisk: Whether it is inactive because a disk does not answer, which does not count against the picture.
  /// - Returns: Why the worker is given up; nil when it is not.
  mutating func check(now: Double, used: Double, waitsForDisk: () -> Bool) -> WorkerLoss? {
    elapsed += min(max(0, now - last), Self.longestStep)
    last = now
    if used > limit { return .outOfTime(limit) }
    let most = limit * limits.wallFactor
    if elapsed > most { return .silent(most, isFinal: true) }
    let patience = limits.idleTime + used * limits.wallFactor
    guard elapsed - earlier > patience, !waitsForDisk() else { return nil }
    return .silent(elapsed - earlier, isFinal: false)
  }
}
