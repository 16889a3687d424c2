import Glibc

/// The two clocks that are read.
enum Clock {
  /// Seconds of a clock that never jumps.
  static var seconds: Double { nanoseconds(CLOCK_MONOTONIC) / 1e9 }

  /// Milliseconds of the same clock.
  static var steadyMilliseconds: Int { Int(nanoseconds(CLOCK_MONOTONIC) / 1e6) }

  /// Milliseconds since 1970, UTC.
  static var milliseconds: Int { Int(nanoseconds(CLOCK_REALTIME) / 1e6) }

  /// Seconds since 1970, UTC.
  static var wallSeconds: Double { nanoseconds(CLOCK_REALTIME) / 1e9 }

  private static func nanoseconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
