import Glibc

/// What tells a process from a later one with the same id.
package enum ProcessStart {
  /// When a process was started, as text: the machine's boot (`boot_id`) and the clock ticks since then, the 22nd field of
  /// `/proc/PID/stat`.
  /// - Returns: nil when there is no such process, when it has ended and nobody has waited for it, and when this user is not
  ///   to see it.
  package static func of(_ process: Int) -> String? {
    guard let data = try? OpenFile(reading: "/proc/\(process)/stat").readAll() else { return nil }
    // The name of the program, in parentheses, may hold anything.
    let fields = String(decoding: data, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 19, !["Z", "X"].contains(fields[0]) else { return nil }
    return thisBoot + "/" + fields[19]
  }

  /// Whether a process that was started then is still there. One that is not to be seen (`hidepid`) is, as far as can be
  /// told, if there is one with its id.
  package static func isRunning(_ process: Int, startedAt start: String) -> Bool {
    if let found = of(process) { return found == start }
    guard process > 0, process <= Int32.max, start.hasPrefix(thisBoot + "/") else { return false }
    return kill(pid_t(process), 0) != 0 && errno == EPERM
  }

  private static let thisBoot = bootID()

  /// What tells a start of the machine from others (`boot_id`); empty when that cannot be read.
  /// - Parameter root: The folder beneath which `/proc` is looked at. Default: the root.
  package static func bootID(root: String = "") -> String {
    ((try? OpenFile(reading: root + "/proc/sys/kernel/random/boot_id").readAll()).map {
      String(decoding: $0, as: UTF8.self).filter { !$0.isWhitespace }
    }) ?? ""
  }
}
