import Darkroom
import Foundation
import System

/// Creates a lock in the inbox. A lock that is already there is no error.
struct PauseCommand: Command {
  let name = "pause"
  let operands = "[NAME]"
  let summary = "suspend both queues: create INBOX/NAME.lock (default: pause.lock)"
  let details = """
    Running operations finish, none starts. Several locks may exist at once; the queues resume when the last one is
    removed. A lock that already exists is no error.
    """
  let examples = [
    "darkroom pause",
    #"darkroom pause backup --reason "nightly backup""#,
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let path = try invocation.lockFile()
    let reason = invocation.settings.reason
    // An existing lock keeps its reason unless a new one is given. The file appears with its reason, never without.
    let (inbox, name) = (try OpenFolder(Folder.parent(of: path)), Folder.name(of: path))
    let written = ".darkroom-pause-\(UUID().uuidString)"
    defer { try? inbox.remove(written) }
    try inbox.create(file: written).write(reason.map { $0.replacing("\n", with: " ") + "\n" } ?? "")
    if reason == nil {
      _ = try inbox.renameWithoutReplacing(written, to: inbox, as: name)
    } else {
      try inbox.rename(written, to: inbox, as: name)
    }
    invocation.console.note("paused by \(path)")
    return .success
  }
}

extension Invocation {
  /// The path of the lock that the operand of `pause` and `resume` names.
  /// - Throws: `UsageError` for a name that no file in the inbox can have; `StopError.missing`.
  func lockFile() throws -> String {
    guard operands.count <= 1 else { throw UsageError("one name at most, not \(operands.count)") }
    let name = operands.first ?? "pause"
    guard !name.isEmpty, !name.contains("/"), !name.contains("\0"), name.utf8.count <= 250 else {
      throw UsageError("\"\(name)\" is not a name for a lock in the inbox")
    }
    return try settings.resolvedInbox() + "/" + (name.lowercased().hasSuffix(".lock") ? name : name + ".lock")
  }
}
