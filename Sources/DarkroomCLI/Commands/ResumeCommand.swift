import Darkroom
import Foundation

/// Removes a lock from the inbox. Doing it twice is no error.
struct ResumeCommand: Command {
  let name = "resume"
  let operands = "[NAME]"
  let summary = "remove INBOX/NAME.lock (default: pause.lock)"
  let details = "Tells which other locks are still there. Saying it twice is no error."
  let examples = [
    "darkroom resume",
    "darkroom resume backup",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let path = try LockFile.path(invocation)
    let wasThere = FileManager.default.fileExists(atPath: path)
    try Folder.removeFile(path)
    invocation.console.note("\(path) \(wasThere ? "is gone" : "was not there")")
    let remaining = try StatusReader.pauses(
      inbox: Folder.parent(of: path), lockFile: invocation.settings.configuration.lockFile)
    if !remaining.isEmpty {
      invocation.console.note("still paused by " + remaining.map(\.description).joined(separator: ", "))
    }
    return .success
  }
}
