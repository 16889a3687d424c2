import Glibc
import Synchronization
import System

/// Lines at the bottom of a terminal that are drawn again and again in place, below what is written there for good. Without
/// a terminal, or on one that cannot move its cursor, nothing is drawn. There is no alternate screen, which would take failures
/// away at the end. Any thread may use it.
///
/// The cursor rests in the first column of the last line. The state is locked while the terminal is written, because what
/// several threads write must not be mixed; drawing never waits for a terminal that takes nothing.
final class TerminalScreen: Sendable {
  let terminal: Terminal

  private struct State {
    /// The lines on the terminal, from where they were drawn.
    var shown: [StyledText] = []
    var hasEnded = false
  }

  private let state = Mutex(State())

  init(_ terminal: Terminal) { self.terminal = terminal }

  var isUsable: Bool { terminal.canMoveCursor }

  /// Draws lines in the place of those that are there, each cut to the terminal's width; at most one less than it has rows.
  func draw(_ lines: [StyledText]) {
    guard isUsable, terminal.isForeground, terminal.isWritable else { return }
    // Whoever has it may be waiting for the terminal; what is not drawn now is drawn next time.
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

  /// Takes the lines away while something else writes whole lines to the terminal, and draws them again.
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

  func clear() {
    state.withLock { state in clear(&state) }
  }

  /// Takes the lines away, and draws no more: the program ends. Does without that if the terminal takes nothing.
  /// - Parameter keepsLines: Whether they stay instead, with the cursor below. Default: no.
  func end(keepsLines: Bool = false) {
    for _ in 0..<100 {
      let isDone: Void? = state.withLockIfAvailable { state in
        if state.hasEnded { return }
        state.hasEnded = true
        guard !state.shown.isEmpty, terminal.isWritable else { return }
        guard keepsLines else { return clear(&state) }
        // What was typed, such as ^C, stands in the last.
        let size = terminal.size
        write(Self.replacing(state.shown, by: state.shown, size, hasColour: terminal.hasColour) + "\n")
      }
      if isDone != nil { return }
      usleep(1000)
    }
  }

  /// Takes the lines away, does what stops the program until it is continued, and has them drawn again after that.
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
  private func write(_ text: String) {
    try? OpenFile.write(text, toStandard: terminal.descriptor, named: "the terminal")
  }
}

// MARK: What the terminal gets

extension TerminalScreen {
  /// The lines that a terminal has room for: a column less than it has, so that none wraps, and a row less.
  static func fitted(_ lines: [StyledText], to size: Terminal.Size) -> [StyledText] {
    lines.prefix(max(0, size.rows - 1)).map { $0.cut(toColumns: max(1, size.columns - 1)) }
  }

  /// The rows that lines occupy, which a terminal that has become narrower has wrapped.
  private static func rows(_ lines: some Sequence<StyledText>, _ size: Terminal.Size) -> Int {
    lines.reduce(0) { $0 + max(1, ($1.columns + size.columns - 1) / size.columns) }
  }

  private static func up(_ rows: Int) -> String { rows > 0 ? "\u{1B}[\(rows)A" : "" }

  /// Erases lines one by one and moves the cursor to where the first was: tmux keeps what is erased with the whole screen.
  static func erasing(_ lines: [StyledText], _ size: Terminal.Size) -> String {
    if lines.isEmpty { return "" }
    let rows = rows(lines, size)
    let erased = Array(repeating: "\u{1B}[K", count: rows).joined(separator: "\u{1B}[B")
    return "\r" + up(Self.rows(lines.dropLast(), size)) + erased + up(rows - 1)
  }

  /// Writes lines over those that are there, each erased to its end after it is written, so that nothing flickers.
  static func replacing(
    _ old: [StyledText], by new: [StyledText], _ size: Terminal.Size, hasColour: Bool
  ) -> String {
    guard !new.isEmpty else { return erasing(old, size) }
    let isWrapped = rows(old, size) > old.count
    let start = isWrapped ? erasing(old, size) : "\r" + up(old.count - 1)
    // The last erases what is below, too.
    return start
      + Self.withoutWrapping(
        new.map { $0.rendered(hasColour: hasColour) }.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[J\r")
  }

  /// Makes the terminal cut what is wider than it (DECAWM): one that is becoming narrower may not have said so yet, and some
  /// show characters wider than others.
  private static func withoutWrapping(_ text: String) -> String { "\u{1B}[?7l" + text + "\u{1B}[?7h" }
}
