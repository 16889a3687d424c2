/// Measures how long a run takes and how much of that was paused, in milliseconds: with the monotonic clock in this
/// process, with the wall clock for earlier processes.
package struct RunTime: Sendable, Equatable {
  package struct Elapsed: Sendable, Equatable, Codable {
    /// Total time in milliseconds; at least 0.
    package let total: Int
    /// Time for which the queues were suspended, in milliseconds; 0 to `total`.
    package let paused: Int
  }

  private let earlier: Elapsed
  private let began: Int
  private let pausedBefore: Int

  /// Starts measuring a run, or its part in this process.
  /// - Parameters:
  ///   - now: As `Clock.monotonicMilliseconds`.
  ///   - paused: How long this process has been paused so far.
  ///   - earlier: The time spent by earlier processes.
  package init(now: Int, paused: Int, earlier: Elapsed = Elapsed(total: 0, paused: 0)) {
    began = now
    pausedBefore = paused
    self.earlier = earlier
  }

  /// - Parameters:
  ///   - now: As `Clock.monotonicMilliseconds`.
  ///   - paused: How long this process has been paused so far.
  package func elapsed(now: Int, paused: Int) -> Elapsed {
    Elapsed(total: earlier.total + now - began, paused: earlier.paused + paused - pausedBefore)
  }
}

extension RunTime.Elapsed {
  /// The time that passed while this process did not run, by the wall clock.
  /// - Parameters:
  ///   - start: Milliseconds since 1970.
  ///   - end: Milliseconds since 1970; before `start` when the clock was set back.
  ///   - paused: Milliseconds by the wall clock.
  package init(from start: Int, to end: Int, paused: Int) {
    total = max(0, end - start)
    self.paused = min(max(0, paused), total)
  }
}
