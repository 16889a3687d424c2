import Darkroom
import Foundation

/// Puts a lock into the inbox. Doing it twice is no error.
struct PauseCommand: Command {
  let name = "pause"
  let operands = "[NAME]"
  let summary = "suspend both queues: create INBOX/NAME.lock (default: pause.lock)"
  let details = """
    Running operations finish, none starts. Several parties may each hold a lock of
    their own; the queues resume when the last is gone. Saying it twice is no error.
    """
  let examples = [
    "darkroom pause",
    #"darkroom pause backup --reason "nightly backup""#,
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let path = try LockFile.path(invocation)
    let reason = invocation.settings.reason
    // A lock that is there keeps its reason, unless it gets another. Nobody sees it without.
    let written = Folder.parent(of: path) + "/.darkroom-pause-\(getpid())"
    try Folder.removeFile(written)
    try OpenFile(creating: written).write(reason.map { $0.replacing("\n", with: " ") + "\n" } ?? "")
    if reason != nil { try Folder.rename(written, to: path) }
    if reason == nil, try !Folder.renameWithoutReplacing(written, to: path) { try Folder.removeFile(written) }
    invocation.console.note("paused by \(path)")
    return .success
  }
}
