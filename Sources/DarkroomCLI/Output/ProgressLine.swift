import Darkroom
import Glibc
import Synchronization

/// The one line on a terminal that moves along. Any thread may take it away.
final class ProgressLine: Sendable {
  /// Whether standard error is a terminal; without one nothing is shown.
  let isTerminal = isatty(STDERR_FILENO) == 1

  private struct State {
    /// How many columns are taken.
    var columns = 0
    var isOver = false
  }

  private let state = Mutex(State())

  /// Whether the line is on the terminal.
  var isShown: Bool { state.withLock { $0.columns > 0 } }

  /// Shows a text in place of the last one, cut to the width of the terminal so that it stays one line.
  func show(_ text: String) {
    guard isTerminal else { return }
    let line = String(text.prefix(min(100, Self.width - 1)))
    state.withLock { state in
      guard !state.isOver else { return }
      Self.write(Self.erasing(state.columns) + line)
      state.columns = line.count
    }
  }

  /// Takes the line away, so that something else may be written.
  func clear() {
    state.withLock { state in
      if state.columns > 0 { Self.write(Self.erasing(state.columns)) }
      state.columns = 0
    }
  }

  /// Takes the line away for good: the program ends.
  func end() {
    state.withLock { $0.isOver = true }
    clear()
  }

  private static func erasing(_ columns: Int) -> String {
    columns == 0 ? "" : "\r" + "".padding(to: columns) + "\r"
  }

  /// Columns of the terminal; 80 when it does not say.
  private static var width: Int {
    var size = winsize()
    let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1
    return isKnown ? Int(size.ws_col) : 80
  }

  /// What cannot be written to standard error cannot be told anywhere.
  private static func write(_ text: String) {
    try? OpenFile.write(text, toStandard: STDERR_FILENO, named: "standard error")
  }
}
