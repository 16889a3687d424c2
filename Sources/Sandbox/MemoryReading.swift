import Glibc

/// The kernel's figures about the memory that this process may use, at one moment. Figures that it lacks are left out.
package struct MemoryReading: Sendable, Equatable {
  /// The memory use of a control group with a limit.
  package struct Group: Sendable, Equatable {
    /// In bytes.
    package let limit: Int

    /// In bytes, without the pages of files, which the kernel reclaims when needed.
    package let used: Int

    package init(limit: Int, used: Int) { (self.limit, self.used) = (limit, used) }

    /// - Parameter cached: The lines of `memory.stat` with the pages of files.
    /// - Returns: nil for a folder that is not that of a group with a limit.
    fileprivate init?(_ folder: String, limit: String, used: String, cached: [Substring]) {
      guard let limit = ControlGroup.number(folder + "/" + limit), 1..<ControlGroup.noLimit ~= limit,
        let used = ControlGroup.number(folder + "/" + used)
      else { return nil }
      let lines = (ControlGroup.contents(folder + "/memory.stat") ?? "").split(separator: "\n").map {
        $0.split(separator: " ")
      }
      let pages = lines.filter { $0.count == 2 && cached.contains($0[0]) }.compactMap { Int($0[1]) }
      self.init(limit: limit, used: max(0, used - pages.reduce(0, +)))
    }
  }

  /// The share of the last ten seconds, in percent, in which all runnable tasks waited for memory: `full avg10` of the pressure
  /// stall information (`Documentation/accounting/psi.rst` of Linux). Of the control group of this process, or of the machine
  /// where the group has none; nil where the kernel does not measure it.
  package var pressure: Double?

  /// The control groups with limits: that of this process and those above it.
  package var groups: [Group] = []

  package init(pressure: Double? = nil, groups: [Group] = []) { (self.pressure, self.groups) = (pressure, groups) }

  /// Reads the current figures: some small files, a few for each control group with a limit.
  /// - Parameter root: The folder beneath which `/proc` and `/sys` are. Default: the root.
  package init(root: String = "") {
    let mount = root + "/sys/fs/cgroup"
    for hierarchy in ControlGroup.hierarchies(membership: ControlGroup.contents(root + "/proc/self/cgroup") ?? "") {
      switch hierarchy {
      case .version2(let path):
        // Where both versions are in use, version 2 has its own folder.
        let folders = [mount, mount + "/unified"].flatMap { ControlGroup.folders(of: path, in: $0) }
        pressure = folders.reduce(pressure) { $0 ?? Self.pressure($1 + "/memory.pressure") }
        groups += folders.compactMap {
          Group($0, limit: "memory.max", used: "memory.current", cached: ["active_file", "inactive_file"])
        }
      case .memoryOfVersion1(let path):
        for folder in ControlGroup.folders(of: path, in: mount + "/memory") {
          // The second is for memory and swap space together; it exists only when the kernel counts both.
          groups += ["memory", "memory.memsw"].compactMap { kind in
            Group(
              folder, limit: kind + ".limit_in_bytes", used: kind + ".usage_in_bytes",
              cached: ["total_active_file", "total_inactive_file"])
          }
        }
      }
    }
    pressure = pressure ?? Self.pressure(root + "/proc/pressure/memory")
  }

  private static func pressure(_ path: String) -> Double? {
    guard let line = ControlGroup.contents(path)?.split(separator: "\n").first(where: { $0.hasPrefix("full ") }),
      let field = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") }),
      let percent = Double(field.dropFirst("avg10=".count)), percent >= 0
    else { return nil }
    return percent
  }
}

/// The memory that pictures may take, derived from the memory of the machine or of the process's control group.
package struct MemoryBudget: Sendable, Equatable {
  /// Bytes shared by all pictures that are held whole or in large parts.
  package let shared: Int

  /// Additional bytes for each worker.
  package let perWorker: Int

  /// Half of the memory, a gibibyte at most, is for whole pictures; a quarter, 256 MiB for each worker at most, for their other
  /// needs.
  /// - Parameters:
  ///   - available: Bytes that the process and its workers may use.
  ///   - workers: The number of workers.
  package init(available: Int, workers: Int) {
    shared = min(1 << 30, available / 2)
    perWorker = min(256 << 20, max(48 << 20, available / 4 / max(1, workers)))
  }

  /// The memory of the machine or, when that is less, the limit of this process's control group.
  package static var available: Int {
    let machine = sysconf(Int32(_SC_PHYS_PAGES)) * Int(getpagesize())
    return min(machine > 0 ? machine : .max, ControlGroup.memoryLimit() ?? .max)
  }
}
