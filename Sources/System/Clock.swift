import CLinux
import Glibc

/// Readings of the system's two clocks (`clock_gettime`).
package enum Clock {
  /// Seconds of `CLOCK_MONOTONIC`, which never jumps.
  package static var monotonicSeconds: Double { nanoseconds(CLOCK_MONOTONIC) / 1e9 }

  /// Milliseconds of `CLOCK_MONOTONIC`, which never jumps.
  package static var monotonicMilliseconds: Int { Int(nanoseconds(CLOCK_MONOTONIC) / 1e6) }

  /// Microseconds of `CLOCK_MONOTONIC`.
  package static var monotonicMicroseconds: Int { Int(nanoseconds(CLOCK_MONOTONIC) / 1e3) }

  /// Whether a time server sets the machine's clock.
  package static var isSetByServer: Bool { clinux_clock_is_set() != 0 }

  /// Seconds since 1970, UTC (`CLOCK_REALTIME`).
  package static var wallSeconds: Double { nanoseconds(CLOCK_REALTIME) / 1e9 }

  /// Milliseconds since 1970, UTC (`CLOCK_REALTIME`).
  package static var wallMilliseconds: Int { Int(nanoseconds(CLOCK_REALTIME) / 1e6) }

  private static func nanoseconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
  }
}
