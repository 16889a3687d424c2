import System

/// Decides when a file is no longer being written.
///
/// A file that somebody has open for writing is not settled, and one that nobody has is. Where the kernel cannot tell, a file
/// is settled when the kernel has reported that it was renamed in or closed by its writer, when its mtime and ctime are older
/// than the settling time, or when it was seen unchanged for that long. On a network file system only the last two hold.
package struct Settling: Sendable {
  /// The least time on a network file system, in seconds: what is known about a file there may be some seconds old.
  package static let networkTime = 10.0

  /// How long a file must be unchanged, in seconds.
  package var time: Double

  /// Whether other machines may write to the files.
  package var isOnNetwork = false

  /// What is known about a file.
  private struct Seen {
    var identity: FileIdentity
    /// When it was first seen like this, in seconds of a clock that never jumps.
    var since: Double
    var isSettled = false
  }

  private var seen: [FileName: Seen] = [:]
  private var reported: Set<FileName> = []

  /// The files that somebody has open for writing, and when that was first seen.
  private var openSince: [FileName: Double] = [:]

  package init(time: Double) { self.time = time }

  /// How long a file must be unchanged where it lies, in seconds.
  package var effectiveTime: Double { isOnNetwork ? max(time, Self.networkTime) : time }

  package mutating func note(_ notice: FolderNotice) {
    switch notice {
    case .complete(let name): if !isOnNetwork { reported.insert(name) }
    case .begun(let name): doubt(name)
    case .lost:
      reported.removeAll()
      for name in seen.keys { seen[name]?.isSettled = false }
    }
  }

  /// Examines a file again that was settled.
  package mutating func doubt(_ name: FileName) {
    reported.remove(name)
    seen[name]?.isSettled = false
  }

  /// Records the files that a scan has found, and forgets all others.
  /// - Parameters:
  ///   - now: Seconds of a clock that never jumps.
  ///   - wallClock: Seconds since 1970.
  ///   - writers: Who has the file with an index open for writing. Asked until a file is settled, and not on a network file
  ///     system.
  /// - Returns: The indices of those that are settled.
  package mutating func settled(
    _ files: [(name: FileName, identity: FileIdentity)], now: Double, wallClock: Double,
    writers: (Int) -> OpenFile.Writers
  ) -> [Int] {
    let names = Set(files.map(\.name))
    seen = seen.filter { names.contains($0.key) }
    reported.formIntersection(names)
    let wasOpen = openSince
    openSince = [:]
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
      seen[name] = file
      return file.isSettled
    }
  }

  /// The files that somebody has had open for writing for at least so many seconds, as far as the kernel tells.
  package func open(for seconds: Double, now: Double) -> Set<FileName> {
    Set(openSince.lazy.filter { now - $0.value >= seconds }.map(\.key))
  }

  private func isOld(_ file: Seen, now: Double, wallClock: Double) -> Bool {
    let changed = max(file.identity.modified, file.identity.changed).sinceEpoch
    return wallClock - changed >= effectiveTime || now - file.since >= effectiveTime
  }

  /// In how many seconds the files are to be looked at again because somebody has one open, of which the kernel tells
  /// nothing when it ends: soon at first, since a file is closed a moment after the notice says so. nil when nobody has.
  package func recheck(now: Double) -> Double? {
    openSince.values.max().map { max(0.02, now - $0) }
  }
}

/// When a file that is missing from a folder counts as removed: it is missing at two scans in a row, and for as long as
/// files are given to settle. A scan that fails tells nothing, and begins it anew.
package struct MissingFiles: Sendable {
  /// Since which scan each file has been missing, in seconds.
  private var since: [Int: Double] = [:]

  package init() {}

  /// Whether the last scan found everything that it looked for.
  package var isEmpty: Bool { since.isEmpty }

  /// Records a scan that found everything that is there.
  /// - Parameters:
  ///   - missing: The files that it did not find, by numbers.
  ///   - now: In seconds, of any clock.
  ///   - time: How long a file must be missing, in seconds.
  /// - Returns: Those that count as removed.
  package mutating func update(_ missing: Set<Int>, now: Double, time: Double) -> Set<Int> {
    let known = since.filter { missing.contains($0.key) }
    since = known
    for file in missing where known[file] == nil { since[file] = now }
    return Set(known.filter { now - $0.value >= time }.keys)
  }

  /// Records that a scan failed, or looked at another folder.
  package mutating func scanFailed() { since = [:] }
}
