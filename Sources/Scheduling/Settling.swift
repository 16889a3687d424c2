import System

/// Decides when a file is no longer being written.
///
/// A file that a process has open for writing is not settled; a file that none has open is. Where the kernel cannot tell, a
/// file is settled when the kernel has reported that it was renamed in or closed by its writer, when its mtime and ctime are
/// older than the settling time, or when it was seen unchanged for that long. On a network file system only the last two apply.
package struct Settling: Sendable {
  /// The least settling time on a network file system, in seconds: the status of a file there may be some seconds old.
  package static let networkTime = 10.0

  /// How long a file must be unchanged, in seconds.
  package var time: Double

  /// Whether other machines may write to the files.
  package var isOnNetwork = false

  /// The last status of a file.
  private struct Seen {
    var identity: FileIdentity
    /// When it was first seen with this status, in seconds of a clock that never jumps.
    var since: Double
    var isSettled = false
  }

  private var seen: [FileName: Seen] = [:]
  private var reported: Set<FileName> = []

  /// The files that a process has open for writing, and when that was first seen.
  private var openSince: [FileName: Double] = [:]

  /// When the first of the files that settle by their age does so, in seconds of a clock that never jumps; nil without one.
  private var oldAt: Double?

  package init(time: Double) { self.time = time }

  /// The effective settling time, in seconds.
  package var effectiveTime: Double { isOnNetwork ? max(time, Self.networkTime) : time }

  package mutating func note(_ notice: FolderNotice) {
    switch notice {
    case .complete(let name): if !isOnNetwork { reported.insert(name) }
    case .begun(let name): recheck(name)
    case .lost:
      reported.removeAll()
      for name in seen.keys { seen[name]?.isSettled = false }
    }
  }

  /// Examines a settled file again.
  package mutating func recheck(_ name: FileName) {
    reported.remove(name)
    seen[name]?.isSettled = false
  }

  /// Records the files that a scan has found, and forgets all others.
  /// - Parameters:
  ///   - now: Seconds of a clock that never jumps.
  ///   - wallClock: Seconds since 1970.
  ///   - writers: Returns who has the file at an index open for writing. Called until a file is settled, and not on a network
  ///     file system.
  /// - Returns: The indices of settled files.
  package mutating func settled(
    _ files: [(name: FileName, identity: FileIdentity)], now: Double, wallClock: Double,
    writers: (Int) -> OpenFile.Writers
  ) -> [Int] {
    let names = Set(files.map(\.name))
    seen = seen.filter { names.contains($0.key) }
    reported.formIntersection(names)
    let wasOpen = openSince
    (openSince, oldAt) = ([:], nil)
    return files.indices.filter { index in
      let (name, identity) = files[index]
      var file = seen[name] ?? Seen(identity: identity, since: now)
      if file.identity != identity { (file.identity, file.since, file.isSettled) = (identity, now, false) }
      guard !file.isSettled else { return true }
      let writers = isOnNetwork ? .unknown : writers(index)
      if writers == .somebody { openSince[name] = wasOpen[name] ?? now }
      file.isSettled =
        switch writers {
        case .nobody: true
        case .somebody: false
        case .unknown: reported.contains(name) || isOld(file, now: now, wallClock: wallClock)
        }
      if !file.isSettled, writers == .unknown {
        oldAt = min(oldAt ?? .infinity, now + wait(for: file, now: now, wallClock: wallClock))
      }
      seen[name] = file
      return file.isSettled
    }
  }

  /// The files that were open for writing for at least so many seconds, as far as the kernel tells.
  package func open(for seconds: Double, now: Double) -> Set<FileName> {
    Set(openSince.lazy.filter { now - $0.value >= seconds }.map(\.key))
  }

  private func isOld(_ file: Seen, now: Double, wallClock: Double) -> Bool {
    wait(for: file, now: now, wallClock: wallClock) <= 0
  }

  /// Seconds until a file is old enough if it does not change; not positive when it is.
  private func wait(for file: Seen, now: Double, wallClock: Double) -> Double {
    let changed = max(file.identity.modified, file.identity.changed).sinceEpoch
    return effectiveTime - max(wallClock - changed, now - file.since)
  }

  /// Seconds until the files are examined again: because one is open, whose closing the kernel does not report (soon at first,
  /// since a file is closed a moment after the notice says so), or will be old enough. nil when there is no such file.
  package func recheck(now: Double) -> Double? {
    let open = openSince.values.max().map { max(0.02, now - $0) }
    // The time has passed without a scan that looked at the files, when the folder cannot be read.
    let old = oldAt.flatMap { $0 > now ? max(0.02, $0 - now) : nil }
    return [open, old].compactMap { $0 }.min()
  }
}

/// When a file that is missing from a folder counts as removed: it is missing in two scans in a row, and for the settling
/// time. A scan that fails restarts this.
package struct MissingFiles: Sendable {
  /// The scan in which each file was first missing, in seconds.
  private var since: [Int: Double] = [:]

  /// When a scan that does not find them either has the first of the missing files count as removed; nil when none is missing.
  package private(set) var due: Double?

  /// The least time between two scans that do not find a file, in seconds.
  private static let leastTime = 0.1

  package init() {}

  /// Whether the last scan found everything that it looked for.
  package var isEmpty: Bool { since.isEmpty }

  /// Records a successful scan.
  /// - Parameters:
  ///   - missing: The files that it did not find, by numbers.
  ///   - now: In seconds, of any clock.
  ///   - time: How long a file must be missing, in seconds.
  /// - Returns: The files that count as removed.
  package mutating func update(_ missing: Set<Int>, now: Double, time: Double) -> Set<Int> {
    let known = since.filter { missing.contains($0.key) }
    since = known
    for file in missing where known[file] == nil { since[file] = now }
    let removed = Set(known.filter { now - $0.value >= time }.keys)
    due = since.lazy.filter { !removed.contains($0.key) }.map(\.value).min().map { $0 + max(time, Self.leastTime) }
    return removed
  }

  /// Records that a scan failed, or looked at another folder.
  package mutating func scanFailed() { (since, due) = ([:], nil) }
}
