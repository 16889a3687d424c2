import Glibc
import Ledger
import System

/// What has the final name of a result already, and does not keep it from being delivered. The filtration compares it, so that
/// no delivery waits for that.
package struct ExistingFile: Sendable, Equatable {
  package enum Kind: Sendable {
    /// This job delivered it, and nobody has changed it since: it is replaced.
    case ours
    /// A file of our user with exactly the bytes of the result, whoever put it there; it is on disk, and is taken for the
    /// result.
    case equal
  }

  package let kind: Kind

  /// The file, as it was when its bytes were compared.
  package let identity: FileIdentity

  private init(_ kind: Kind, _ identity: FileIdentity) { (self.kind, self.identity) = (kind, identity) }

  /// How often a file is read that changes meanwhile.
  private static let attempts = 3

  /// Reads the file that has a name and as many bytes as it must have. No symbolic link is followed.
  /// - Parameters:
  ///   - known: What this job last delivered under the name; nil when it never did.
  ///   - staging: Tells whose files this process makes.
  ///   - digest: Reads the file. Default: as a SHA-256.
  /// - Returns: nil when nothing has the name, or something that is neither.
  /// - Throws: `SystemError` when nothing can be told of it now.
  package init?(
    _ path: String, in folder: OpenFolder, bytes: Int, sha256: String, known: LedgerOutput?, staging: Staging,
    digest: (OpenFile) throws(SystemError) -> String = {
      (file) throws(SystemError) in try MessageDigest.hexDigest(ofDescriptor: file.descriptor, path: file.path)
    }
  ) throws(SystemError) {
    do {
      let file = try folder.open(reading: path)
      var (status, found) = (try file.status(), "")
      // It may be changed while it is read: also by another name of it that goes, as those of a download for several variants.
      for _ in 0..<Self.attempts {
        guard status.kind == .file, [bytes, known?.bytes].contains(status.size) else { return nil }
        found = try digest(file)
        let now = try file.status()
        if now.identity == status.identity { break }
        (status, found) = (now, "")
      }
      if let known, known.bytes == status.size, known.sha256 == found {
        self.init(.ours, status.identity)
      } else if status.size == bytes, found == sha256, try staging.makesFiles(of: status) {
        try file.sync()
        self.init(.equal, status.identity)
      } else {
        return nil
      }
    } catch  where error.cause == .permission {
      // Not when its folder may not be searched now: that says nothing about the file.
      _ = try folder.status(of: path)
      return nil
    } catch  where [.missing, .occupied].contains(error.cause) || error.code == ENXIO {
      return nil
    }
  }
}

extension Staging {
  /// Whether a file is of the user whose files this process makes in the outbox.
  fileprivate func makesFiles(of status: FileStatus) throws(SystemError) -> Bool {
    if status.owner == geteuid() { return true }
    return try open().isOurs(status)
  }
}
