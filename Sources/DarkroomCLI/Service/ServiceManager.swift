import Darkroom
import Dispatch
import Glibc
import Model
import Synchronization
import System

/// The service manager that has started `watch`, such as systemd. It is told when the program is ready, what it does, and
/// that it is alive (sd_notify(3)). Without one, nothing is sent.
final class ServiceManager: Sendable {
  private struct State {
    /// Whether it was told that the program is ready.
    var isReady = false
    /// Whether the loop runs, which then tells that it is alive.
    var isLooping = false
    /// When the loop must tell that next, as `Clock.monotonicSeconds`.
    var due = 0.0
    /// Whether the configuration was read again, and that was not told.
    var hasReloaded = false
    var shown = ""
  }

  private let socket: NotifySocket?
  private let state = Mutex(State())

  /// The time between two signs of life, in seconds: half of what the service manager waits for. nil when it waits for
  /// none.
  private let interval: Double?

  init(environment: [String: String]) {
    socket = environment["NOTIFY_SOCKET"].flatMap(NotifySocket.init)
    interval = socket == nil ? nil : Self.watchdogInterval(environment)
    if socket != nil { keepAliveBesideLoop(every: min(interval ?? Self.startInterval, Self.startInterval)) }
  }

  /// The time between two requests for more time at the start, in seconds. Each asks for three times as much.
  private static let startInterval = 10.0

  private static func watchdogInterval(_ environment: [String: String]) -> Double? {
    // The variables may be of a parent process.
    if let process = environment["WATCHDOG_PID"], process != "\(getpid())" { return nil }
    return environment["WATCHDOG_USEC"].flatMap(Int.init).flatMap { $0 > 0 ? Double($0) / 2_000_000 : nil }
  }

  /// Asks for more time until the program is ready, and then tells that it is alive while its loop does not run: the ledger may
  /// be checked or rebuilt, which takes long.
  private func keepAliveBesideLoop(every interval: Double) {
    let queue = DispatchQueue(label: "Service manager", qos: .utility)
    @Sendable func tell() {
      let (isReady, isLooping) = state.withLock { ($0.isReady, $0.isLooping) }
      if !isReady { send("EXTEND_TIMEOUT_USEC=\(Int(3_000_000 * Self.startInterval))") }
      if isReady, !isLooping, self.interval != nil { send("WATCHDOG=1") }
      queue.asyncAfter(deadline: .now() + interval, execute: tell)
    }
    queue.async(execute: tell)
  }

  // MARK: The program's state

  func handle(_ event: Event) {
    switch event {
    case .watching(let inbox, _, .watch):
      state.withLock { $0.isReady = true }
      send("READY=1\nSTATUS=watching \(inbox.visible)")
    case .stopping: send("STOPPING=1")
    default: break
    }
  }

  func show(_ status: Status) {
    let text = status.summary
    let isNew = state.withLock { state in
      defer { state.shown = text }
      return state.shown != text
    }
    if isNew { send("STATUS=\(text.visible)") }
  }

  /// Tells that the configuration is being read again. The loop ends that.
  func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(Clock.monotonicMicroseconds)") }

  func reloaded() { state.withLock { $0.hasReloaded = true } }

  /// Tells that the loop runs, when that is due.
  /// - Returns: When it is due next, as `Clock.monotonicSeconds`; nil if the service manager does not wait for it.
  func loopRuns(now: Double) -> Double? {
    let (hasReloaded, isDue, due) = state.withLock { state in
      let (hasReloaded, isDue) = (state.hasReloaded, now >= state.due)
      (state.isLooping, state.hasReloaded) = (true, false)
      if isDue, let interval { state.due = now + interval }
      return (hasReloaded, isDue, state.due)
    }
    if hasReloaded { send("READY=1") }
    guard interval != nil else { return nil }
    if isDue { send("WATCHDOG=1") }
    return due
  }

  func loopEnded() { state.withLock { $0.isLooping = false } }

  private func send(_ text: String) { socket?.send(text) }
}

extension Status {
  /// The jobs, their entries and the pauses, on one line.
  fileprivate var summary: String {
    if jobs.isEmpty, pauses.isEmpty { return "watching \(inbox)" }
    let (ended, total) = (jobs.reduce(0) { $0 + ($1.ended ?? 0) }, jobs.reduce(0) { $0 + ($1.total ?? 0) })
    let work = jobs.isEmpty ? [] : ["\(jobs.count.of("job", "jobs")), \(ended) of \(total.of("entry", "entries")) done"]
    let paused = pauses.isEmpty ? [] : ["paused: " + pauses.map(\.description).joined(separator: ", ")]
    return (work + paused).joined(separator: "; ")
  }
}
