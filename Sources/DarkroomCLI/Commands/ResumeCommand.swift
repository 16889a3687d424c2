import Darkroom
import Foundation
import System

/// Removes a lock from the inbox. A lock that is not there is no error.
struct ResumeCommand: Command {
  let name = "resume"
  let operands = "[NAME]"
  let summary = "remove INBOX/NAME.lock (default: pause.lock)"
  let details = "Prints the locks that remain. A lock that does not exist is no error."
  let examples = [
    "darkroom resume",
    "darkroom resume backup",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    let path = try invocation.lockFile()
    let (inbox, name) = (try OpenFolder(Folder.parent(of: path)), Folder.name(of: path))
    let existed = try inbox.status(of: name) != nil
    try inbox.remove(name)
    invocation.console.note("\(path) \(existed ? "was removed" : "did not exist")")
    let remaining = try StatusReader.pauses(
      inbox: Folder.parent(of: path), lockFile: invocation.settings.configuration.lockFile)
    if !remaining.isEmpty {
      invocation.console.note("still paused by " + remaining.map(\.description).joined(separator: ", "))
    }
    return .success
  }
}
