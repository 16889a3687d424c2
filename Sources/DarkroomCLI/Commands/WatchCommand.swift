import Darkroom

/// Keeps watching the inbox until it is told to stop: the form for a service.
struct WatchCommand: Command {
  let name = "watch"
  let operands = ""
  let summary = "keep watching the inbox until stopped"

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError("watch takes no operands; \"\(invocation.operands[0])\" is one")
    }
    let darkroom = try Darkroom(configuration: invocation.settings.resolved(), observe: invocation.console.tell)
    let signals = StopSignals(stop: darkroom.stop)
    let (configure, readAgain) = (darkroom.configure, invocation.readAgain)
    let reload = ReloadSignal { configure { try readAgain().resolved() } }
    _ = try darkroom.watchInbox()
    return withExtendedLifetime((signals, reload)) { .success }
  }
}
