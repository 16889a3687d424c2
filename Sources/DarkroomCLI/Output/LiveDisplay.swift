import Foundation
import Synchronization
import System

/// Draws the progress of a source while it is active, at most ten times a second: on its own thread, so that the clock goes on
/// while nothing else happens, and drawing delays no work.
final class LiveDisplay<Source: ProgressSource>: Sendable {
  private struct State {
    var source: Source
    var isWanted: Bool
    var hasChanged = false
    var isTicking = false
    /// The last second that was drawn.
    var second = 0
  }

  private let screen: TerminalScreen

  /// Whether anything is drawn; otherwise changes need not be reported.
  var isEnabled: Bool { screen.isUsable && isWanted }

  /// Whether the user wants to see it.
  var isWanted: Bool {
    get { state.withLock { $0.isWanted } }
    set { state.withLock { $0.isWanted = newValue } }
  }

  private let state: Mutex<State>

  init(_ source: Source, on screen: TerminalScreen, isWanted: Bool) {
    self.screen = screen
    state = Mutex(State(source: source, isWanted: isWanted))
  }

  func update(_ change: (inout Source) -> Void) {
    guard isEnabled else { return }
    let mustStart = state.withLock { state in
      change(&state.source)
      state.hasChanged = true
      defer { state.isTicking = true }
      return !state.isTicking
    }
    guard mustStart else { return }
    let thread = try? NativeThread("the thread of the display") { [self] in
      // No display for a task that ends at once.
      repeat { usleep(100_000) } while tick()
    }
    // Without a thread, the next change tries again.
    if let thread { thread.detach() } else { state.withLock { $0.isTicking = false } }
  }

  private enum Tick { case unchanged, idle, draw(ProgressSnapshot) }

  /// Draws, if something has changed or a second has passed.
  /// - Returns: Whether to go on: `false` once there is nothing to show.
  private func tick() -> Bool {
    let now = Clock.monotonicSeconds
    let tick: Tick = state.withLock { state in
      guard state.hasChanged || Int(now) != state.second else { return .unchanged }
      (state.hasChanged, state.second) = (false, Int(now))
      if state.isWanted, let snapshot = state.source.snapshot(at: now) { return .draw(snapshot) }
      state.isTicking = false
      return .idle
    }
    switch tick {
    case .unchanged: return true
    case .idle:
      screen.clear()
      return false
    case .draw(let snapshot):
      screen.draw(ProgressDisplay.lines(snapshot, screen.terminal.size))
      return true
    }
  }
}
