import Darkroom
import Foundation

/// Puts a lock into the inbox. Doing it twice is no error.
struct PauseCommand: Command {
  let name = "pause"
  let operands = "[NAME]"
  let summary = "suspend both queues: create INBOX/NAME.lock (default: pause.lock)"
  let details = """
    Running operations finish, none starts. Several parties may each hold a lock of
    their own; the queues resume when the last is gone. --reason TEXT is shown in
    the report.
    """

  func run(_ invocation: Invocation) throws -> ExitCode {
    let path = try LockFile.path(invocation)
    let lock = try OpenFile(updating: path)
    if let reason = invocation.settings.reason {
      try lock.truncate()
      try lock.write(reason.replacing("\n", with: " ") + "\n")
    }
    return .success
  }
}
