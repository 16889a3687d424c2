/// Decides when a folder is scanned again: when the kernel has noticed something, and every so often. Scanning a hundred
/// thousand files takes a while, so scans may take a tenth of the time at most, unless that would be longer than half a
/// minute without one; only an urgent notice has the folder scanned at once.
package struct ScanSchedule: Sendable {
  private var hasNotice = false
  private var hasUrgentNotice = true
  private var earliest = 0.0
  private var latest = 0.0

  /// The longest time between scans that is due to how long they take, in seconds: a file system that hung once is not to
  /// be left alone for the ninefold time.
  private static let longestBreak = 30.0

  package init() {}

  package mutating func note(isUrgent: Bool) {
    hasNotice = true
    hasUrgentNotice = hasUrgentNotice || isUrgent
  }

  package mutating func scanNow() { hasUrgentNotice = true }

  /// When the next scan is due, in seconds of a clock that never jumps.
  package var due: Double { hasUrgentNotice ? 0 : hasNotice ? earliest : latest }

  /// Records a scan.
  /// - Parameter interval: The time after which the folder is scanned without a notice.
  package mutating func scanned(from began: Double, to ended: Double, interval: Double) {
    hasNotice = false
    hasUrgentNotice = false
    earliest = ended + min(9 * (ended - began), Self.longestBreak)
    latest = max(began + interval, earliest)
  }
}
