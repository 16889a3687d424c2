import Glibc
import System

/// A file in the inbox that asks an instance to cancel a run: `.darkroom-cancel-RUN`. A manifest that has no run yet is named
/// by a digest of its name and identity instead.
package enum CancelRequest {
  static let prefix = ".darkroom-cancel-"

  /// What stands for a manifest, whether or not it was accepted.
  /// - Parameter identity: Of the file, as the ledger has it.
  package static func key(ofManifest file: String, identity: String) -> String {
    String(MessageDigest.hexDigest(of: file + "\n" + identity).prefix(32))
  }

  /// The name of the file that asks for something to be cancelled.
  package static func name(_ key: String) -> String { prefix + key }

  /// What a file asks to be cancelled; nil when it is no such file.
  static func key(ofFile name: FileName) -> String? {
    guard name.bytes.starts(with: prefix.utf8), let text = name.text else { return nil }
    let key = String(text.dropFirst(prefix.count))
    return (1...64).contains(key.utf8.count) && !key.contains("/") ? key : nil
  }

  /// Whether who has made a request may have the run cancelled: whoever may remove the manifest. In a folder with the sticky
  /// bit that is the owner of the manifest or of the folder, besides root and this process's user.
  /// - Parameter manifest: The manifest's name in the folder; nil when it does not lie there.
  package static func isAllowed(_ key: String, manifest: String?, in folder: OpenFolder) -> Bool {
    guard let request = try? folder.status(of: name(key)), request.kind == .file, let inbox = try? folder.status()
    else { return false }
    if inbox.mode & Int(S_ISVTX) == 0 || [0, geteuid(), inbox.owner].contains(request.owner) { return true }
    guard let manifest, let file = try? folder.status(of: manifest) else { return false }
    return file.owner == request.owner
  }
}

extension InboxScan.Manifest {
  /// What stands for it where it is to be cancelled.
  package var cancelKey: String { CancelRequest.key(ofManifest: file, identity: identity.text) }
}
