import TestSupport
import Testing

@testable import DarkroomCLI

/// What is drawn in place, on a terminal that follows the sequences.
@Suite struct TerminalScreenTests {
  private static let size = Terminal.Size(columns: 30, rows: 12)

  private static func lines(_ random: inout SplitMix64) -> [StyledText] {
    let styles: [StyledText.Style] = [.plain, .bad, .bold]
    return (0..<Int.random(in: 0...8, using: &random)).map { _ in
      (0..<Int.random(in: 0...4, using: &random)).reduce(StyledText()) { line, _ in
        line
          + StyledText(
            String("abcdefghijkl".prefix(Int.random(in: 1...12, using: &random))),
            styles.randomElement(using: &random) ?? .plain)
      }
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `drawn lines take the place of those before, what is written stays above, and nothing is left at the end`(
    seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var terminal = VirtualTerminal(columns: Self.size.columns)
    var (shown, log) = ([StyledText](), [String]())
    for step in 0..<40 {
      if Bool.random(using: &random) {
        let next = TerminalScreen.fitted(Self.lines(&random), to: Self.size)
        terminal.write(TerminalScreen.replacing(shown, by: next, Self.size, hasColour: seed % 2 == 0))
        shown = next
      } else {
        log.append("log \(step)")
        terminal.write(TerminalScreen.erasing(shown, Self.size) + "log \(step)\n")
        terminal.write(TerminalScreen.replacing([], by: shown, Self.size, hasColour: false))
      }
      var expected = log + shown.map(\.text)
      while expected.last?.isEmpty == true { expected.removeLast() }
      #expect(terminal.text == expected)
      #expect(!terminal.isBroken && terminal.column == 0, "the cursor is in the first column")
    }
    terminal.write(TerminalScreen.erasing(shown, Self.size))
    #expect(terminal.text == log && terminal.row == log.count)
  }

  @Test func `more lines than rows, and lines as wide as the terminal, are cut`() {
    let lines = Array(repeating: StyledText(String(repeating: "写", count: 40)), count: 30)
    let fitted = TerminalScreen.fitted(lines, to: Self.size)
    #expect(fitted.count == 11 && fitted.allSatisfy { $0.columns <= 29 })
    #expect(TerminalScreen.fitted(lines, to: .init(columns: 80, rows: 1)).isEmpty)
  }

  @Test func `a terminal that has become narrower has wrapped the lines, and all their rows are erased`() {
    let lines = [StyledText(String(repeating: "a", count: 49)), StyledText(String(repeating: "b", count: 29))]
    var terminal = VirtualTerminal(columns: 30)
    // As tmux has it then: the first line in two rows, and the cursor in the row of the last.
    terminal.write("log\n" + String(repeating: "a", count: 30) + "\r\n" + String(repeating: "a", count: 19) + "\r\n")
    terminal.write(String(repeating: "b", count: 29) + "\r")
    let new = TerminalScreen.fitted([StyledText("new")], to: .init(columns: 30, rows: 12))
    terminal.write(TerminalScreen.replacing(lines, by: new, .init(columns: 30, rows: 12), hasColour: false))
    #expect(terminal.text == ["log", "new"])
  }

  @Test func `a whole screen is never erased at once, since tmux would keep it in its history`() {
    #expect(!TerminalScreen.erasing([StyledText("a"), StyledText("b")], Self.size).contains("J"))
  }

  @Test func `without a terminal that can move its cursor nothing is drawn, and NO_COLOR turns off colours only`() {
    // Standard error of the tests may be a terminal or not; a descriptor that is none never is one.
    #expect(!Terminal(descriptor: -1, environment: ["TERM": "xterm"]).canMoveCursor)
    for name in ["", "dumb"] { #expect(!Terminal(descriptor: 2, environment: ["TERM": name]).canMoveCursor) }
    #expect(!Terminal(descriptor: 2, environment: ["TERM": "xterm", "NO_COLOR": "1"]).hasColour)
  }
}
