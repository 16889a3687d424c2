import System

extension Configuration {
  /// Why inbox and outbox cannot be used together, because they are one folder or one lies within the other; nil when they
  /// can. An outbox may lie within the inbox, where folders are ignored. Both paths have their symbolic links resolved.
  package var folderConflict: String? {
    // A folder that is mounted twice has two paths.
    let node = try? OpenFolder(inbox).status().identity
    let isSame = try? node?.isSameNode(as: OpenFolder(outbox).status().identity)
    if inbox == outbox || isSame == true {
      return "--inbox and --outbox name the same folder: \(inbox)"
    }
    if inbox.hasPrefix(outbox == "/" ? "/" : outbox + "/") {
      return "--inbox must not lie in --outbox, where jobs have their folders: \(inbox)"
    }
    let beneath = inbox == "/" ? "/" : inbox + "/"
    guard outbox.hasPrefix(beneath), let name = outbox.dropFirst(beneath.count).split(separator: "/").first,
      case .lock = InboxFile(named: FileName(String(name)))
    else { return nil }
    return "--outbox must not lie in \(beneath)\(name), which is a lock of --inbox"
  }
}
