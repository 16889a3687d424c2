import Model
import System

/// Folders that cannot be used together. Symbolic links in all paths are resolved.
extension Configuration {
  /// Why inbox and outbox cannot be used together: they are the same folder, or one is inside the other; nil when they
  /// can. The outbox may be inside the inbox, where folders are ignored.
  package var folderConflict: String? {
    if Self.areSame(inbox, outbox) { return "--inbox and --outbox name the same folder: \(inbox)" }
    if Self.path(inbox, beneath: outbox) != nil {
      return "--inbox must not lie in --outbox, where jobs have their folders: \(inbox)"
    }
    return lockConflict(of: outbox, option: "--outbox")
  }

  /// Why a state folder cannot be used with inbox and outbox: the folders and files of one would be those of another; nil when it
  /// can. The state may be in the outbox's hidden folder, where it is by default, and inside the inbox, where folders are ignored.
  package func conflict(withState state: String) -> String? {
    if state == defaultState { return nil }
    for (name, folder) in [("--inbox", inbox), ("--outbox", outbox)] {
      if Self.areSame(state, folder) { return "--state and \(name) name the same folder: \(state)" }
      if let part = Self.path(folder, beneath: state)?.first, StateFolder.folderNames.contains(part) {
        return "\(name) must not lie in \(state == "/" ? "" : state)/\(part), which is a folder of --state"
      }
    }
    if Self.path(state, beneath: outbox) != nil {
      return "--state must not lie in --outbox, where jobs have their folders: \(state); without --state it is "
        + "\(defaultState)"
    }
    return lockConflict(of: state, option: "--state")
  }

  /// Whether two paths name one folder: a folder that is mounted twice has two paths.
  private static func areSame(_ a: String, _ b: String) -> Bool {
    let node = try? OpenFolder(a).status().identity
    return a.isIdentical(to: b) || (try? node?.isSameNode(as: OpenFolder(b).status().identity)) == true
  }

  /// The components of a path that follow those of a folder above it; nil when it is not beneath that.
  private static func path(_ path: String, beneath folder: String) -> [String]? {
    guard let components = Folder.path(path, in: folder)?.fields("/"), !components.isEmpty else { return nil }
    return components
  }

  /// Why a folder cannot be used that lies in a lock of the inbox; nil when it does not.
  private func lockConflict(of folder: String, option: String) -> String? {
    guard let name = Self.path(folder, beneath: inbox)?.first, case .lock = InboxFile(named: FileName(name)) else {
      return nil
    }
    return "\(option) must not lie in \(inbox == "/" ? "" : inbox)/\(name), which is a lock of --inbox"
  }
}
