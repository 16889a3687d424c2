import System
import Transfer

/// Where things lie in the outbox.
struct OutboxFolder: Sendable {
  let path: String

  /// What is not for users: staging, and by default the state.
  var hidden: String { path + "/.darkroom" }

  /// Staging for those who keep their ledger in a state folder; another ledger's files are none of our business.
  func staging(of state: StateFolder) -> String {
    let digest = MessageDigest()
    Array(state.path.utf8).withUnsafeBytes(digest.update)
    return hidden + "/staging/" + digest.hexDigest().prefix(8)
  }

  /// The file that says which process owns the outbox.
  var instanceFile: String { hidden + "/instance" }

  func job(_ name: String) -> JobFolder { JobFolder(path: path + "/" + name, name: name) }
}
