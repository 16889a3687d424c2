import Darkroom

/// Removes a lock from the inbox. Doing it twice is no error.
struct ResumeCommand: Command {
  let name = "resume"
  let operands = "[NAME]"
  let summary = "remove INBOX/NAME.lock (default: pause.lock)"

  func run(_ invocation: Invocation) throws -> ExitCode {
    let path = try LockFile.path(invocation)
    try Folder.removeFile(path)
    invocation.console.note("\(path) is gone")
    return .success
  }
}
