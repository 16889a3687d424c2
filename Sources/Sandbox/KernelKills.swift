/// Tells whether the kernel has killed processes for want of memory (the OOM killer) since some time. It is read only when
/// something was killed, so that tasks need not pay for it.
package struct KernelKills: Sendable {
  private var readings: [(time: Double, count: Int?)]

  /// So many readings are remembered, and the first.
  private static let limit = 64

  /// - Parameters:
  ///   - time: As `Clock.monotonicSeconds`.
  ///   - count: As `KernelKills.count`.
  package init(at time: Double, count: Int?) { readings = [(time, count)] }

  /// Whether there may have been one between two times: the kernel counts them for the whole machine, and this knows the
  /// count of some earlier time. Where the kernel does not say it, there may.
  /// - Parameters:
  ///   - began: Not before the time of `init`.
  ///   - now: The time of the count, not before the last one's.
  package mutating func mayHaveHappened(since began: Double, until now: Double, count: Int?) -> Bool {
    let before = readings.last { $0.time <= began } ?? readings[0]
    readings.append((now, count))
    if readings.count > Self.limit { readings.remove(at: 1) }
    guard let count, let earlier = before.count else { return true }
    return count > earlier
  }

  /// How many processes the kernel has killed for want of memory, of the machine or of a control group, since it began;
  /// nil when it does not say.
  /// - Parameter statistics: The contents of `/proc/vmstat` (`proc(5)`).
  package static func count(statistics: String? = ControlGroup.contents("/proc/vmstat")) -> Int? {
    let line = statistics?.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
    return line.flatMap { Int($0.dropFirst("oom_kill ".count)) }
  }
}
