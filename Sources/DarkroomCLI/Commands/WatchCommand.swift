import Darkroom

/// Keeps watching the inbox until it is told to stop: the form for a service.
struct WatchCommand: Command {
  let name = "watch"
  let operands = ""
  let summary = "keep watching the inbox until stopped"
  let details = """
    The path of each report is printed on standard output. SIGTERM and SIGINT end it cleanly, SIGHUP has it read its
    configuration again.
    """
  let examples = [
    "darkroom watch",
    "darkroom watch --config darkroom.json --json",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError("watch takes no operands; \"\(invocation.operands[0])\" is one")
    }
    StopSignals.hold()
    let darkroom = try Darkroom(configuration: invocation.settings.resolved(), observe: invocation.console.tell)
    let signals = StopSignals(line: invocation.console.line, stop: darkroom.stop)
    let (configure, readAgain) = (darkroom.configure, invocation.readAgain)
    let reload = ReloadSignal { configure { try readAgain().resolved() } }
    _ = try darkroom.watchInbox()
    return withExtendedLifetime((signals, reload)) { .success }
  }
}
