import Inbox
import Model
import System

/// Recognises manifests of unfinished jobs that were copied since their acceptance, as by the restoration of a backup: their inodes
/// differ, and their bytes do not.
enum RestoredManifest {
  /// The identity of the copy in the inbox; nil when the file is the accepted one, is missing, or has other bytes.
  static func identity(of manifest: JobManifest, in inbox: Inbox) -> String? {
    guard manifest.lies(in: inbox.path), !manifest.sha256.isEmpty, manifest.tooLarge == nil,
      let file = try? inbox.folder.open(reading: manifest.file), let status = try? file.status(), status.kind == .file,
      mayBeCopy(status, of: manifest.identity),
      (try? MessageDigest.hexDigest(ofDescriptor: file.descriptor, path: file.path)) == manifest.sha256,
      // Nobody has written it in the meantime.
      (try? file.status().identity) == status.identity
    else { return nil }
    return status.identity.text
  }

  /// Whether a file has another inode and the same size. Only such a file is read.
  /// - Parameter identity: As the ledger stores it.
  private static func mayBeCopy(_ status: FileStatus, of identity: String) -> Bool {
    let (found, known) = (status.identity.text.fields(" "), identity.fields(" "))
    return found.count == known.count && known.count > 1 && found[0] != known[0] && found[1] == known[1]
  }
}
