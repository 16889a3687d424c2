import Inbox
import System

/// The manifests in the inbox that were handled: accepted, passed over, or done and not removed. A file of the same name with
/// another identity is a new manifest.
struct HandledManifests {
  /// A manifest whose job has ended, and that cannot be moved out of the inbox.
  struct Stuck {
    let job: String

    /// The file's identity, as the ledger stores it.
    let identity: String

    /// Why it could not be moved.
    let why: String
  }

  /// The identities of handled files.
  private var identities: [FileName: String] = [:]

  /// The stuck manifests that were in the inbox at the last scan, by name.
  private(set) var stuck: [FileName: Stuck] = [:]

  mutating func insert(_ file: FileName, identity: String) { identities[file] = identity }

  mutating func insert(_ file: FileName, _ manifest: Stuck) { stuck[file] = manifest }

  /// Forgets a file, which is then a new manifest.
  mutating func remove(_ file: FileName) { identities[file] = nil }

  /// Forgets a file if it still has that identity.
  mutating func remove(_ file: FileName, identity: String) {
    if identities[file] == identity { identities[file] = nil }
  }

  /// Forgets all files, after the inbox was unavailable and files could not be removed from it.
  mutating func removeAll() { self = HandledManifests() }

  /// The manifests of a scan that were not handled. Forgets files that are gone.
  /// - Parameter unexamined: The names of manifests that could not be examined, which are not gone.
  mutating func unhandled(
    _ manifests: [InboxScan.Manifest], unexamined: Set<FileName>
  ) -> [InboxScan.Manifest] {
    if !stuck.isEmpty {
      let found = Dictionary(manifests.map { ($0.key, $0.identity.text) }, uniquingKeysWith: { first, _ in first })
      stuck = stuck.filter { unexamined.contains($0.key) || found[$0.key] == $0.value.identity }
    }
    if identities.isEmpty { return manifests }
    let names = Set(manifests.map(\.key)).union(unexamined)
    identities = identities.filter { names.contains($0.key) }
    return manifests.filter { identities[$0.key] != $0.identity.text }
  }
}
