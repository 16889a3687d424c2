/// Decides whether a worker takes too long over a task. A value: it is told what time it is.
///
/// The processor's time has a limit, and the wall's is ten times that. Long before, a worker that does nothing is given up:
/// it may take a minute, and besides ten times the processor's time that it has used, so that it goes on where it gets only a
/// tenth of a processor.
struct TaskClock: Sendable {
  /// Seconds of processor time that the task may take.
  var limit: Double

  /// Seconds on the wall, this try's and earlier ones'.
  private(set) var elapsed: Double
  private let limits: WorkerLimits
  private var earlier: Double
  private var last: Double

  /// The most that passes between two checks unless this process is stopped itself, in seconds. Then its workers are, too.
  private static let longestStep = 1.0

  /// - Parameters:
  ///   - now: As `Clock.monotonicSeconds`.
  ///   - earlier: Seconds that earlier tries took.
  init(_ limits: WorkerLimits, now: Double, earlier: Double = 0) {
    self.limits = limits
    (limit, last, self.earlier, elapsed) = (limits.time(pixels: 0), now, earlier, earlier)
  }

  /// Begins another try. What is known about the picture stays known.
  mutating func tryAgain(now: Double) { (earlier, last) = (elapsed, now) }

  /// Leaves out the time since the last check: the worker waited for this process.
  mutating func skip(to now: Double) { last = now }

  /// - Parameters:
  ///   - used: Seconds of processor time that the worker has used for the task.
  ///   - waitsForDisk: Whether it does nothing because a disk does not answer, which is no fault of the picture.
  /// - Returns: Why the worker is to be given up; nil while it is not.
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
