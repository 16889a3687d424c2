import Glibc
import System

/// A file in the inbox that asks an instance to cancel a run: `.darkroom-cancel-RUN`. For a manifest that has no run
/// yet, the name contains a digest of the manifest's name and identity instead.
package enum CancelRequest {
  static let prefix = ".darkroom-cancel-"

  /// The key of a manifest for requests to cancel it. It is the same before and after the manifest is accepted.
  /// - Parameter identity: The file's identity, as the ledger stores it.
  package static func key(ofManifest file: String, identity: String) -> String {
    String(MessageDigest.hexDigest(of: file + "\n" + identity).prefix(32))
  }

  /// The key of manifests that were named to a process as arguments, until they have ended there. Another process does not take it:
  /// it may be given the same files, which stay where they are.
  /// - Parameters:
  ///   - job: The job's name; nil for all that were named.
  ///   - start: When the process was started, see `ProcessStart`.
  package static func key(ofNamed job: String?, startedAt start: String) -> String {
    String(MessageDigest.hexDigest(of: (job ?? "") + "\n" + start).prefix(32))
  }

  /// The name of the file that requests cancelling.
  package static func name(_ key: String) -> String { prefix + key }

  /// The key in the name of a request's file; nil for other files.
  static func key(ofFile name: FileName) -> String? {
    guard name.bytes.starts(with: prefix.utf8), let text = name.text else { return nil }
    let key = text.dropping(bytesOf: prefix)
    return (1...64).contains(key.utf8.count) ? key : nil
  }

  /// Whether the owner of a request may cancel the run, which requires the permission to remove the manifest. In a
  /// folder with the sticky bit, the owners of the manifest and of the folder, root and this process's user have it.
  /// - Parameter manifest: The manifest's name in the folder; nil when it is elsewhere.
  package static func isAllowed(_ key: String, manifest: String?, in folder: OpenFolder) -> Bool {
    guard let request = try? folder.status(of: name(key)), request.kind == .file, let inbox = try? folder.status()
    else { return false }
    if inbox.mode & Int(S_ISVTX) == 0 || [0, geteuid(), inbox.owner].contains(request.owner) { return true }
    guard let manifest, let file = try? folder.status(of: manifest) else { return false }
    return file.owner == request.owner
  }
}

extension InboxScan.Manifest {
  /// Its key for requests to cancel it.
  package var cancelKey: String { CancelRequest.key(ofManifest: file, identity: identity.text) }
}
