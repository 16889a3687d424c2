/// Decides when a file is no longer being written.
///
/// A file is settled when the kernel has reported that it was renamed in or closed by its writer, when its mtime is
/// older than the settling time, or when it was seen unchanged for that long.
struct Settling {
  /// How long a file must be unchanged, in seconds.
  var time: Double

  private var seen: [FileName: (identity: FileIdentity, since: Double)] = [:]
  private var reported: Set<FileName> = []

  init(time: Double) { self.time = time }

  /// Takes in what the kernel has said of a name.
  mutating func note(_ notice: FolderNotice) {
    switch notice {
    case .complete(let name): reported.insert(FileName(name))
    case .begun(let name): reported.remove(FileName(name))
    case .lost: reported.removeAll()
    }
  }

  /// Takes in a scan and tells which of its manifests are settled, in their order.
  /// - Parameter now: Seconds of a clock that never jumps.
  /// - Parameter wallClock: Seconds since 1970.
  mutating func settled(_ manifests: [InboxScan.Manifest], now: Double, wallClock: Double) -> [InboxScan.Manifest] {
    let names = Set(manifests.map(\.key))
    seen = seen.filter { names.contains($0.key) }
    reported.formIntersection(names)
    return manifests.filter { manifest in
      let since: Double
      if let before = seen[manifest.key], before.identity == manifest.identity {
        since = before.since
      } else {
        seen[manifest.key] = (manifest.identity, now)
        since = now
      }
      let age = wallClock - manifest.identity.modified.sinceEpoch
      return reported.contains(manifest.key) || age >= time || now - since >= time
    }
  }
}
