import System

/// Decides when a file is no longer being written.
///
/// A file is settled when the kernel has reported that it was renamed in or closed by its writer, when its mtime is
/// older than the settling time, or when it was seen unchanged for that long.
package struct Settling: Sendable {
  /// How long a file must be unchanged, in seconds.
  package var time: Double

  private var seen: [FileName: (identity: FileIdentity, since: Double)] = [:]
  private var reported: Set<FileName> = []

  package init(time: Double) { self.time = time }

  /// Records a notice of the kernel.
  package mutating func note(_ notice: FolderNotice) {
    switch notice {
    case .complete(let name): reported.insert(name)
    case .begun(let name): reported.remove(name)
    case .lost: reported.removeAll()
    }
  }

  /// Records the files that a scan has found, and forgets all others.
  /// - Parameter now: Seconds of a clock that never jumps.
  /// - Parameter wallClock: Seconds since 1970.
  /// - Returns: The indices of those that are settled.
  package mutating func settled(
    _ files: [(name: FileName, identity: FileIdentity)], now: Double, wallClock: Double
  ) -> [Int] {
    let names = Set(files.map(\.name))
    seen = seen.filter { names.contains($0.key) }
    reported.formIntersection(names)
    return files.indices.filter { index in
      let (name, identity) = files[index]
      let since: Double
      if let before = seen[name], before.identity == identity {
        since = before.since
      } else {
        seen[name] = (identity, now)
        since = now
      }
      let age = wallClock - identity.modified.sinceEpoch
      return age >= time || now - since >= time || reported.contains(name)
    }
  }
}
