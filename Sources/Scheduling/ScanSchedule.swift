/// Decides when a folder is scanned again: when the kernel has reported a change, and at intervals. Scanning a hundred
/// thousand files takes a while, so scans may take a tenth of the time at most, unless that would mean more than half a
/// minute without one; only an urgent notice causes a scan at once.
package struct ScanSchedule: Sendable {
  private var hasNotice = false
  private var hasUrgentNotice = true
  private var earliest = 0.0
  private var latest = 0.0

  /// The longest break after a slow scan, in seconds: a file system that hung once must not cause a break of nine times that
  /// long.
  private static let longestBreak = 30.0

  package init() {}

  package mutating func note(isUrgent: Bool) {
    hasNotice = true
    hasUrgentNotice = hasUrgentNotice || isUrgent
  }

  package mutating func scanNow() { hasUrgentNotice = true }

  /// When the next scan is due, in seconds of a clock that never jumps.
  package var due: Double { hasUrgentNotice ? 0 : hasNotice ? earliest : latest }

  /// Brings the next scan forward, unless one is due sooner or scans take long.
  package mutating func scan(by time: Double) { latest = min(latest, max(time, earliest)) }

  /// Records a scan.
  /// - Parameter interval: The time after which the folder is scanned without a notice.
  package mutating func scanned(from began: Double, to ended: Double, interval: Double) {
    hasNotice = false
    hasUrgentNotice = false
    earliest = ended + min(9 * (ended - began), Self.longestBreak)
    latest = max(began + interval, earliest)
  }
}
