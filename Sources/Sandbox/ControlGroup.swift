import System

/// The control group that a process is in (`cgroups(7)`), version 2 or 1.
package enum ControlGroup {
  /// A hierarchy of groups that may limit memory, with the path of the process's group in it.
  enum Hierarchy: Equatable {
    case version2(path: String)
    case memoryOfVersion1(path: String)
  }

  /// The least memory limit of the group of this process and of those above it, in bytes; nil when there is none, or it
  /// cannot be read.
  /// - Parameters:
  ///   - membership: The contents of `/proc/self/cgroup`.
  ///   - root: Where the groups are mounted.
  package static func memoryLimit(
    membership: String = contents("/proc/self/cgroup") ?? "", root: String = "/sys/fs/cgroup"
  ) -> Int? {
    let limits = hierarchies(membership: membership).flatMap { hierarchy -> [Int] in
      switch hierarchy {
      case .version2(let path):
        // Where both versions are in use, version 2 has its own folder.
        [root, root + "/unified"].flatMap { folders(of: path, in: $0) }.compactMap { number($0 + "/memory.max") }
      case .memoryOfVersion1(let path):
        folders(of: path, in: root + "/memory").compactMap { number($0 + "/memory.limit_in_bytes") }
      }
    }
    return limits.min().flatMap { $0 < noLimit ? $0 : nil }
  }

  /// Version 1 says "no limit" with the largest number of pages.
  static let noLimit = 1 << 60

  /// The hierarchies that limit memory.
  /// - Parameter membership: The contents of `/proc/self/cgroup`.
  static func hierarchies(membership: String) -> [Hierarchy] {
    membership.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return nil }
      if fields[1].isEmpty { return .version2(path: String(fields[2])) }
      return fields[1].split(separator: ",").contains("memory") ? .memoryOfVersion1(path: String(fields[2])) : nil
    }
  }

  /// The folders of a group and of those above it, from the innermost. In a container the path may be that on the host; then
  /// only the mounted root exists.
  static func folders(of path: String, in root: String) -> [String] {
    var (path, folders) = (path == "/" ? "" : path, [String]())
    while true {
      folders.append(root + path)
      guard let slash = path.lastIndex(of: "/") else { return folders }
      path = String(path[..<slash])
    }
  }

  /// The number in a file; nil for a file without one, such as "no limit" in version 2, or one that cannot be read.
  static func number(_ path: String) -> Int? { contents(path).flatMap { Int($0.filter { !$0.isWhitespace }) } }

  /// The beginning of a small file; nil when it cannot be read.
  package static func contents(_ path: String) -> String? {
    guard let file = try? OpenFile(reading: path), let bytes = try? file.readStart(16 << 10) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Tells whether the kernel has killed processes because of lack of memory (the OOM killer) since some time. The count is
/// read only when a process was killed, so that tasks do not pay for it.
package struct KernelKills: Sendable {
  private var readings: [(time: Double, count: Int?)]

  /// The number of remembered readings, besides the first.
  private static let limit = 64

  /// - Parameters:
  ///   - time: As `Clock.monotonicSeconds`.
  ///   - count: As `KernelKills.count`.
  package init(at time: Double, count: Int?) { readings = [(time, count)] }

  /// Whether there may have been a kill between two times: the kernel counts them for the whole machine, and this knows the
  /// count of an earlier time. True where the kernel has no count.
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

  /// How many processes the kernel has killed because of lack of memory, of the machine or of a control group, since it
  /// started; nil when it has no count.
  /// - Parameter statistics: The contents of `/proc/vmstat` (`proc(5)`).
  package static func count(statistics: String? = ControlGroup.contents("/proc/vmstat")) -> Int? {
    let line = statistics?.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
    return line.flatMap { Int($0.dropFirst("oom_kill ".count)) }
  }
}
