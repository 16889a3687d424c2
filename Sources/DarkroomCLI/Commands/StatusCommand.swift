import Darkroom
import Foundation

/// Prints the status, whether or not an instance is running.
struct StatusCommand: Command {
  let name = "status"
  let operands = ""
  let summary = "print jobs, queues, rate, time left, pauses"
  let details = """
    Works whether or not an instance is running, for every user who may read the outbox, and changes nothing. The last
    five jobs that have ended come with it, or all with --all. With --json, one object. A job that has not ended is
    waiting, planning, fetching (the list of its entries), running, replaced (by a later manifest), cancelling or
    finishing. The causes of pauses are lock, disk (it is full, or cannot be written), memory (it is scarce) and network (no
    host answers).
    """
  let examples = [
    "darkroom status",
    "darkroom status --json | jq -r '.jobs[] | .job'",
  ]

  let isOnlyLooking = true

  /// So many jobs that have ended are listed.
  private static let finishedLimit = 5

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError("status takes no operands, such as \"\(invocation.operands[0])\"")
    }
    let reader = StatusReader(configuration: try invocation.settings.resolved(for: .reading))
    var status = try reader.read()
    reader.addFinished(to: &status, limit: invocation.settings.showsAll ? .max : Self.finishedLimit)
    try invocation.output.print(invocation.settings.isJSON ? status.text : status.lines.joined(separator: "\n"))
    return .success
  }
}
