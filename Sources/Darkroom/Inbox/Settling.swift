/// Decides when a file is no longer being written.
///
/// A file is settled when the kernel has reported that it was renamed in or closed by its writer, when its mtime is
/// older than the settling time, or when it was seen unchanged for that long.
struct Settling {
  /// How long a file must be unchanged, in seconds.
  var time: Double

  private var seen: [String: (identity: FileIdentity, since: Double)] = [:]
  private var reported: Set<String> = []

  init(time: Double) { self.time = time }

  /// Takes in what the kernel has said of a name.
  mutating func note(_ notice: FolderNotice) {
    switch notice {
    case .complete(let name): reported.insert(name)
    case .begun(let name): reported.remove(name)
    case .lost: reported.removeAll()
    }
  }

  /// Takes in a scan and tells which of its manifests are settled, in their order.
  /// - Parameter now: Seconds of a clock that never jumps.
  /// - Parameter wallClock: Nanoseconds since 1970.
  mutating func settled(_ manifests: [InboxScan.Manifest], now: Double, wallClock: Int) -> [InboxScan.Manifest] {
    let names = Set(manifests.map(\.file))
    seen = seen.filter { names.contains($0.key) }
    reported.formIntersection(names)
    return manifests.filter { manifest in
      let since: Double
      if let before = seen[manifest.file], before.identity == manifest.identity {
        since = before.since
      } else {
        seen[manifest.file] = (manifest.identity, now)
        since = now
      }
      let age = Double(wallClock - manifest.identity.modified) / 1e9
      return reported.contains(manifest.file) || age >= time || now - since >= time
    }
  }
}
