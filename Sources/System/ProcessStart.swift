import Glibc

/// Distinguishes a process from a later one with the same id.
package enum ProcessStart {
  /// When a process was started, as text: the machine's boot (`boot_id`) and the clock ticks since then, the 22nd field of
  /// `/proc/PID/stat`.
  /// - Returns: nil when there is no such process, when it has ended and has not been waited for, and when this user may not see
  ///   it.
  package static func of(_ process: Int) -> String? {
    guard let data = try? OpenFile(reading: "/proc/\(process)/stat").readAll() else { return nil }
    // The program's name, in parentheses, may contain anything.
    let fields = String(decoding: data, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 19, !["Z", "X"].contains(fields[0]) else { return nil }
    return thisBoot + "/" + fields[19]
  }

  /// Whether a process that was started then still exists. One that this user may not see (`hidepid`) counts as running if any
  /// process has its id.
  package static func isRunning(_ process: Int, startedAt start: String) -> Bool {
    if let found = of(process) { return found == start }
    guard process > 0, process <= Int32.max, start.hasPrefix(thisBoot + "/") else { return false }
    return kill(pid_t(process), 0) != 0 && errno == EPERM
  }

  private static let thisBoot = bootID()

  /// Identifies a start of the machine (`boot_id`); empty when that cannot be read.
  /// - Parameter root: The folder that contains `/proc`. Default: the root.
  package static func bootID(root: String = "") -> String {
    ((try? OpenFile(reading: root + "/proc/sys/kernel/random/boot_id").readAll()).map {
      String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace }
    }) ?? ""
  }
}
