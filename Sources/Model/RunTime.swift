/// Measures how long a run takes and how much of that was paused, in milliseconds. Within a process the monotonic clock tells;
/// of earlier processes only the wall clock does, which may have been set meanwhile.
package struct RunTime: Sendable, Equatable {
  package struct Elapsed: Sendable, Equatable, Codable {
    /// Milliseconds; at least 0.
    package let total: Int
    /// Milliseconds of these in which the queues were suspended; 0 to `total`.
    package let paused: Int

    package init(total: Int, paused: Int) {
      self.total = total
      self.paused = paused
    }
  }

  private let earlier: Elapsed
  private let began: Int
  private let pausedBefore: Int

  /// Begins with the run, or with its part in this process.
  /// - Parameters:
  ///   - now: As `Clock.monotonicMilliseconds`.
  ///   - paused: The paused time of this process so far.
  ///   - earlier: What earlier processes took.
  package init(now: Int, paused: Int, earlier: Elapsed = Elapsed(total: 0, paused: 0)) {
    began = now
    pausedBefore = paused
    self.earlier = earlier
  }

  /// - Parameters:
  ///   - now: As `Clock.monotonicMilliseconds`.
  ///   - paused: The paused time of this process so far.
  package func elapsed(now: Int, paused: Int) -> Elapsed {
    Elapsed(total: earlier.total + now - began, paused: earlier.paused + paused - pausedBefore)
  }
}

extension RunTime.Elapsed {
  /// What the wall clock says of a time that passed without this process.
  /// - Parameters:
  ///   - start: Milliseconds since 1970.
  ///   - end: Milliseconds since 1970; before `start` when the clock was set back.
  ///   - paused: Milliseconds, as the wall clock says.
  package init(from start: Int, to end: Int, paused: Int) {
    total = max(0, end - start)
    self.paused = min(max(0, paused), total)
  }
}
