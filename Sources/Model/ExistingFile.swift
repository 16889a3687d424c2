import Glibc
import Ledger
import System

/// A file that has the final name of a result already and does not prevent its delivery. The filtration compares the
/// two, so that no delivery waits for that.
package struct ExistingFile: Sendable, Equatable {
  package enum Kind: Sendable {
    /// This job delivered it, and it is unchanged since. It is replaced.
    case ours
    /// A file of the user of this process with exactly the bytes of the result. It is synced, and taken for the result.
    case equal
  }

  package let kind: Kind

  /// The file's identity when its bytes were compared.
  package let identity: FileIdentity

  private init(_ kind: Kind, _ identity: FileIdentity) { (self.kind, self.identity) = (kind, identity) }

  /// How many times a file is read that changes while it is read.
  private static let attempts = 3

  /// Reads the file that has the name, if its size is one of those expected. Symbolic links are not followed.
  /// - Parameters:
  ///   - known: The file that this job last delivered under the name; nil when there is none.
  ///   - staging: Used to find out the owner of this program's files.
  ///   - digest: Reads the file. Default: as a SHA-256.
  /// - Returns: nil when the name is free or is taken by another file.
  /// - Throws: `SystemError` when the file cannot be examined now.
  package init?(
    _ path: String, in folder: OpenFolder, bytes: Int, sha256: String, known: LedgerOutput?, staging: Staging,
    digest: (OpenFile) throws(SystemError) -> String = {
      (file) throws(SystemError) in try MessageDigest.hexDigest(ofDescriptor: file.descriptor, path: file.path)
    }
  ) throws(SystemError) {
    do {
      let file = try folder.open(reading: path)
      var (status, found) = (try file.status(), "")
      // The file may change while it is read. Its ctime also changes when a download that several variants share loses
      // a name.
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
      // When its folder must not be searched, nothing is known about the file: that error is thrown.
      _ = try folder.status(of: path)
      return nil
    } catch  where [.missing, .occupied].contains(error.cause) || error.code == ENXIO {
      return nil
    }
  }
}

extension Staging {
  /// Whether a file has the owner that files of this process have in the outbox.
  fileprivate func makesFiles(of status: FileStatus) throws(SystemError) -> Bool {
    if status.owner == geteuid() { return true }
    return try open().isOurs(status)
  }
}
