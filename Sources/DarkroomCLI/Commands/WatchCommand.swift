import Darkroom
import Dispatch
import Glibc

/// Watches the inbox until it is stopped: the form for a service.
struct WatchCommand: Command {
  let name = "watch"
  let operands = ""
  let summary = "keep watching the inbox until stopped"
  let details = """
    The path of each report is printed on standard output. SIGTERM and SIGINT end it cleanly, SIGHUP makes it
    reload its configuration.
    """
  let examples = [
    "darkroom watch",
    "darkroom watch --config darkroom.json --json",
  ]

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError("watch takes no operands, such as \"\(invocation.operands[0])\"")
    }
    StopSignals.block()
    let darkroom = try Darkroom(configuration: invocation.settings.resolved(), observe: invocation.console.handle)
    let signals = StopSignals(line: invocation.console.progressLine, stop: darkroom.stop)
    let (configure, reloadSettings) = (darkroom.configure, invocation.reloadSettings)
    let reload = ReloadSignal { configure { try reloadSettings().resolved() } }
    _ = try darkroom.watchInbox()
    return withExtendedLifetime((signals, reload)) { .success }
  }
}

/// SIGHUP: calls for the configuration to be read again, as long as the value lives.
private final class ReloadSignal {
  private let source: any DispatchSourceSignal

  init(_ reload: @escaping @Sendable () -> Void) {
    signal(SIGHUP, SIG_IGN)
    source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global(qos: .userInteractive))
    source.setEventHandler(handler: reload)
    source.resume()
  }

  deinit { source.cancel() }
}
