import Darkroom
import Glibc
import Synchronization
import System

/// The progress line of a terminal. Any thread may clear it.
final class ProgressLine: Sendable {
  /// Whether standard error is a terminal; nothing is shown elsewhere.
  let isTerminal = isatty(STDERR_FILENO) == 1

  private struct State {
    /// The columns on the terminal that the line occupies.
    var columns = 0
    var hasEnded = false
  }

  private let state = Mutex(State())

  /// Whether the line is on the terminal.
  var isShown: Bool { state.withLock { $0.columns > 0 } }

  /// Replaces the line, truncated to the width of the terminal.
  func show(_ text: String) {
    guard isTerminal else { return }
    let line = String(text.prefix(min(100, Self.width - 1)))
    state.withLock { state in
      guard !state.hasEnded else { return }
      Self.write(Self.erasing(state.columns) + line)
      state.columns = line.count
    }
  }

  /// Clears the line, so that something else can be written.
  func clear() {
    state.withLock { state in
      if state.columns > 0 { Self.write(Self.erasing(state.columns)) }
      state.columns = 0
    }
  }

  /// Clears the line for good: the program ends.
  func end() {
    state.withLock { $0.hasEnded = true }
    clear()
  }

  private static func erasing(_ columns: Int) -> String {
    columns == 0 ? "" : "\r" + "".padding(to: columns) + "\r"
  }

  /// Columns of the terminal; 80 when they are not known.
  private static var width: Int {
    var size = winsize()
    let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1
    return isKnown ? Int(size.ws_col) : 80
  }

  /// Failures are ignored: there is nowhere else to report them.
  private static func write(_ text: String) {
    try? OpenFile.write(text, toStandard: STDERR_FILENO, named: "standard error")
  }
}
