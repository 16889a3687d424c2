import Darkroom
import Model
import System

struct ResumeCommand: Command {
  let name = "resume"
  let operands = "[NAME]"
  let summary = "remove INBOX/NAME.lock (default: pause.lock)"
  let details = """
    Prints the locks that remain. A lock that does not exist is no error. A lock may also be an empty folder and, if there is
    none of exactly that name, end in .LOCK.
    """
  let examples = [
    "darkroom resume",
    "darkroom resume backup",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let lock = try invocation.lockFile()
    let removed = try lock.remove()
    invocation.console.note(removed.map { $0 + " was removed" } ?? "\(lock.path) did not exist")
    let remaining = try StatusReader.pauses(
      inbox: Folder.parent(of: lock.path), lockFile: invocation.settings.configuration.lockFile)
    let reader = try invocation.inboxReader()
    if !remaining.isEmpty {
      invocation.console.note("still paused by " + remaining.map(\.description).joined(separator: ", "))
    } else if reader == .nextStart {
      invocation.console.note("no instance is running")
    }
    return invocation.warn(of: reader) ? .tryAgain : .success
  }
}
