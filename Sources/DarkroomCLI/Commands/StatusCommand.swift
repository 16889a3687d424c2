import Darkroom
import Foundation
import System

struct StatusCommand: Command {
  let name = "status"
  let operands = ""
  let summary = "print jobs, queues, rate, time left, pauses"
  let details = """
    Works whether or not an instance is running, for every user who may read the outbox, and changes nothing. Also lists the
    last five jobs that have ended, or all with --all. Prints a table on a terminal, elsewhere a line for each item; with
    --json, one object. --watch keeps it on the screen until Ctrl-C, or prints it each time it changes. A job that has not
    ended is waiting, planning, fetching (the list of its entries), running, replaced (by a later manifest), cancelling or
    finishing. With --json, up to 100 operations are named that are downloading or filtering a picture. The causes of pauses
    are lock, disk (it is full, or not writable) and memory (it is scarce). The causes of failing hosts are
    refused (or not found), unanswered (no connection in time), silent (no answer in time), broken (its answers are) and,
    for this machine, unresolved (no name server answers), no-network and no-proxy.
    """
  let examples = [
    "darkroom status",
    "darkroom status --json | jq -r '.jobs[] | .job'",
  ]

  let isOnlyLooking = true

  /// The number of ended jobs that are listed.
  private static let finishedLimit = 5

  /// The interval of `--watch`, in seconds.
  private static let interval: UInt32 = 1

  /// Waits for an interval of `--watch`.
  /// - Throws: `StandardOutput.Failure` when the reader of standard output has gone away meanwhile.
  private func waitWhileRead(_ output: StandardOutput) throws {
    var reader = pollfd(fd: output.descriptor, events: 0, revents: 0)
    guard poll(&reader, 1, Int32(Self.interval) * 1000) > 0 else { return }
    throw StandardOutput.Failure(cause: SystemError("write", "standard output", code: EPIPE))
  }

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError(
        "status takes no operands, such as \"\(invocation.operands[0])\": it lists all jobs; with --all, all that have ended, too"
      )
    }
    let reader = StatusReader(configuration: try invocation.settings.resolved(for: .reading))
    let isJSON = invocation.settings.isJSON
    func status() throws -> Status {
      var status = try reader.read()
      reader.addFinished(to: &status, limit: invocation.settings.allJobs ? .max : Self.finishedLimit)
      return status
    }
    let terminal = Terminal(descriptor: invocation.output.descriptor, environment: invocation.settings.environment)
    func table(_ status: Status) -> [StyledText] {
      StatusTable(status: status, width: terminal.size.columns - 1, now: Date()).lines
    }
    if invocation.settings.keepsWatching {
      if terminal.canMoveCursor, !isJSON { try keepOnScreen(terminal) { table(try status()) } }
      try printChanges(to: invocation.output) { isJSON ? try status().text : Self.plain(try status()) + "\n" }
    }
    if terminal.isTerminal, !isJSON {
      for line in table(try status()) {
        try invocation.output.print(line.rendered(hasColour: terminal.hasColour))
      }
    } else {
      try invocation.output.print(isJSON ? try status().text : Self.plain(try status()))
    }
    for job in SharedOutbox(invocation.settings.outbox.path).jobs {
      invocation.console.note("job \(job) is done in shards: \"darkroom shard status DIR\" tells how far it is")
    }
    return .success
  }

  private static func plain(_ status: Status) -> String { status.lines.joined(separator: "\n") }

  /// Redraws lines until a signal ends the program.
  private func keepOnScreen(_ terminal: Terminal, _ lines: () throws -> [StyledText]) throws -> Never {
    let screen = TerminalScreen(terminal)
    try Signals.clear(screen, keepsLines: true)
    defer { screen.end() }
    while true {
      let all = try lines()
      let room = max(1, terminal.size.rows - 1)
      let more = all.count - room + 1
      screen.draw(all.count <= room ? all : all.prefix(room - 1) + [StyledText("… and \(more) more lines", .dim)])
      sleep(Self.interval)
    }
  }

  /// Prints a text each time it changes, until a signal ends the program or the reader goes away.
  private func printChanges(to output: StandardOutput, _ text: () throws -> String) throws -> Never {
    var last: String?
    while true {
      let next = try text()
      if next != last {
        try output.print(next)
        try output.flush()
      }
      last = next
      try waitWhileRead(output)
    }
  }
}
