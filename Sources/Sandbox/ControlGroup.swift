import Glibc
import System

/// The control group that a process is in (`cgroups(7)`), version 2 or 1.
package enum ControlGroup {
  /// The least limit of memory of the group of this process and of those above it, in bytes; nil when there is none, or
  /// it cannot be read.
  /// - Parameters:
  ///   - membership: The contents of `/proc/self/cgroup`.
  ///   - root: Where the groups are mounted.
  package static func memoryLimit(
    membership: String = contents("/proc/self/cgroup") ?? "", root: String = "/sys/fs/cgroup"
  ) -> Int? {
    let lines = membership.split(separator: "\n").map {
      $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    }
    let limits = lines.filter { $0.count == 3 }.compactMap { line -> Int? in
      let controllers = line[1].split(separator: ",")
      if controllers.isEmpty {
        // Where both versions are in use, version 2 has a folder of its own.
        return [root, root + "/unified"].compactMap { least("memory.max", of: String(line[2]), in: $0) }.min()
      }
      guard controllers.contains("memory") else { return nil }
      return least("memory.limit_in_bytes", of: String(line[2]), in: root + "/memory")
    }
    // Version 1 says "no limit" with the largest number of pages.
    return limits.min().flatMap { $0 < 1 << 60 ? $0 : nil }
  }

  /// The least of the numbers that a file of a group, and of those above it, holds. In a container the path may be that on
  /// the host; then only the mounted root is there.
  private static func least(_ file: String, of path: String, in root: String) -> Int? {
    var (path, numbers) = (path == "/" ? "" : path, [Int]())
    while true {
      if let number = contents("\(root)\(path)/\(file)").flatMap({ Int($0.filter { !$0.isWhitespace }) }) {
        numbers.append(number)
      }
      guard let slash = path.lastIndex(of: "/") else { return numbers.min() }
      path = String(path[..<slash])
    }
  }

  /// The beginning of a small file; nil when it cannot be read.
  package static func contents(_ path: String) -> String? {
    guard let file = try? OpenFile(reading: path), let bytes = try? file.readStart(16 << 10) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
