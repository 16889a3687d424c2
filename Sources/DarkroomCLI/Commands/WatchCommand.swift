import Darkroom
import Synchronization

struct WatchCommand: Command {
  let name = "watch"
  let operands = ""
  let summary = "keep watching the inbox until stopped"
  let details = """
    Prints the path of each report on standard output. SIGTERM and SIGINT end it cleanly; SIGHUP reloads its configuration.
    """
  let examples = [
    "darkroom watch",
    "darkroom watch --config darkroom.json --json",
  ]

  let takesSignals = true

  func run(_ invocation: Invocation) throws -> ExitCode {
    guard invocation.operands.isEmpty else {
      throw UsageError("watch takes no operands, such as \"\(invocation.operands[0])\"")
    }
    let signals = try Signals(screen: invocation.console.screen)
    let service = ServiceManager(environment: invocation.settings.environment)
    // Read on the thread of the signals, and applied where events are printed.
    let reloaded = Mutex<Settings?>(nil)
    let retry = LocalRetry(limit: nil, wait: signals.wait) { invocation.console.handle(.warning($0)) }
    do {
      let configuration = try retry.run { try invocation.settings.resolved() }
      _ = try Darkroom.repairingLedger(
        configuration: configuration, retry: retry,
        observe: { event in
          if case .configured = event, let settings = reloaded.withLock({ $0 }) {
            invocation.console.configure(settings)
          }
          invocation.console.handle(event)
          service.handle(event)
        }
      ) { darkroom in
        darkroom.statusInterval = invocation.console.statusInterval
        darkroom.publish = { status in
          invocation.console.show(status)
          service.show(status)
        }
        darkroom.keepAlive = service.loopRuns
        defer { service.loopEnded() }
        let (configure, reloadSettings) = (darkroom.configure, invocation.reloadSettings)
        signals.handle(
          by: .init(
            stop: darkroom.stop, leave: darkroom.leave, grace: darkroom.grace,
            reload: {
              service.reloading()
              configure {
                defer { service.reloaded() }
                let settings = try reloadSettings()
                let configuration = try settings.resolved()
                reloaded.withLock { $0 = settings }
                return configuration
              }
            }))
        return try darkroom.watchInbox()
      }
    } catch is CancellationError {}
    return .success
  }
}
