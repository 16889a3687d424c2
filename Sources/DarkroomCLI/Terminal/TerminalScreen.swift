import Glibc
import Synchronization
import System

/// Lines at the bottom of a terminal that are redrawn below the permanent output. Without a terminal, or on one that cannot
/// move its cursor, nothing is drawn. There is no alternate screen, which would remove failures at the end. Any thread may use
/// it.
///
/// The cursor rests in the first column of the last line. The state is locked while the terminal is written, because output of
/// several threads must not be mixed; drawing never waits for a terminal that accepts no output.
final class TerminalScreen: Sendable {
  let terminal: Terminal

  private struct State {
    /// The lines that are shown.
    var shown: [StyledText] = []
    var hasEnded = false
  }

  private let state = Mutex(State())

  init(_ terminal: Terminal) { self.terminal = terminal }

  var isUsable: Bool { terminal.canMoveCursor }

  /// Replaces the lines on the terminal, each cut to its width; at most one less than it has rows.
  func draw(_ lines: [StyledText]) {
    guard isUsable, terminal.isForeground, terminal.isWritable else { return }
    // The holder may be waiting for the terminal; the next call draws.
    _ = state.withLockIfAvailable { state in
      let size = terminal.size
      guard !state.hasEnded else { return }
      let lines = Self.fitted(lines, to: size)
      if lines == state.shown { return }
      write(Self.replacing(state.shown, by: lines, size, hasColour: terminal.hasColour))
      state.shown = lines
    }
  }

  /// Writes text that ends with a line break above the lines, also when there are none.
  func write(above text: String) {
    state.withLock { state in
      guard !state.shown.isEmpty else { return write(text) }
      let size = terminal.size
      let lines = Self.fitted(state.shown, to: size)
      write(
        Self.erasing(state.shown, size) + text
          + Self.replacing([], by: lines, size, hasColour: terminal.hasColour))
      state.shown = lines
    }
  }

  /// Removes the lines while something else writes whole lines to the terminal, and draws them again.
  func withoutLines<Result>(_ body: () -> Result) -> Result {
    state.withLock { state in
      guard !state.shown.isEmpty else { return body() }
      let size = terminal.size
      write(Self.erasing(state.shown, size))
      let result = body()
      state.shown = Self.fitted(state.shown, to: size)
      write(Self.replacing([], by: state.shown, size, hasColour: terminal.hasColour))
      return result
    }
  }

  func clear() { state.withLock { state in clear(&state) } }

  /// Removes the lines for good: the program ends. Skips that if the terminal accepts no output.
  /// - Parameter keepsLines: Whether the lines stay, with the cursor below them. Default: no.
  func end(keepsLines: Bool = false) {
    for _ in 0..<100 {
      let isDone: Void? = state.withLockIfAvailable { state in
        if state.hasEnded { return }
        state.hasEnded = true
        guard !state.shown.isEmpty, terminal.isWritable else { return }
        guard keepsLines else { return clear(&state) }
        // Typed characters, such as ^C, are in the last row.
        let size = terminal.size
        write(Self.replacing(state.shown, by: state.shown, size, hasColour: terminal.hasColour) + "\n")
      }
      if isDone != nil { return }
      usleep(1000)
    }
  }

  /// Removes the lines, stops the program until it is continued, and draws the lines again.
  func suspend(_ body: () -> Void) {
    // Nothing is drawn meanwhile.
    state.withLock { state in
      clear(&state)
      body()
    }
  }

  private func clear(_ state: inout State) {
    guard !state.shown.isEmpty else { return }
    write(Self.erasing(state.shown, terminal.size))
    state.shown = []
  }

  /// Failures are ignored: there is nowhere else to report them.
  private func write(_ text: String) { try? OpenFile.write(text, to: terminal.descriptor, named: "the terminal") }
}

// MARK: Escape sequences

extension TerminalScreen {
  /// The lines that fit a terminal: a column less than it has, so that none wraps, and a row less.
  static func fitted(_ lines: [StyledText], to size: Terminal.Size) -> [StyledText] {
    lines.prefix(max(0, size.rows - 1)).map { $0.cut(toColumns: max(1, size.columns - 1)) }
  }

  /// The rows that lines occupy on a terminal that has become narrower and wrapped them.
  private static func rows(_ lines: some Sequence<StyledText>, _ size: Terminal.Size) -> Int {
    lines.reduce(0) { $0 + max(1, ($1.columns + size.columns - 1) / size.columns) }
  }

  private static func up(_ rows: Int) -> String { rows > 0 ? "\u{1B}[\(rows)A" : "" }

  /// Erases lines one by one and moves the cursor to the first: tmux keeps text that is erased with the whole screen.
  static func erasing(_ lines: [StyledText], _ size: Terminal.Size) -> String {
    if lines.isEmpty { return "" }
    let rows = rows(lines, size)
    let erased = Array(repeating: "\u{1B}[K", count: rows).joined(separator: "\u{1B}[B")
    return "\r" + up(Self.rows(lines.dropLast(), size)) + erased + up(rows - 1)
  }

  /// Writes lines over the previous ones, each erased to its end after it is written, so that nothing flickers.
  static func replacing(
    _ old: [StyledText], by new: [StyledText], _ size: Terminal.Size, hasColour: Bool
  ) -> String {
    guard !new.isEmpty else { return erasing(old, size) }
    let isWrapped = rows(old, size) > old.count
    let start = isWrapped ? erasing(old, size) : "\r" + up(old.count - 1)
    // The last one also erases everything below.
    return start
      + Self.withoutWrapping(
        new.map { $0.rendered(hasColour: hasColour) }.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[J\r")
  }

  /// Makes the terminal cut lines that are too wide (DECAWM): a terminal that is becoming narrower may not have reported it yet,
  /// and some show characters wider than others.
  private static func withoutWrapping(_ text: String) -> String { "\u{1B}[?7l" + text + "\u{1B}[?7h" }
}
