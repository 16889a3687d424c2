@testable import DarkroomCLI

/// What a terminal shows after what was written to it: the sequences that `TerminalScreen` uses, and text. It does not scroll.
struct VirtualTerminal {
  let columns: Int
  private(set) var rows: [[Character]] = [[]]
  private(set) var row = 0
  private(set) var column = 0

  /// Whether text went beyond the last column, or the cursor above the first row.
  private(set) var isBroken = false

  init(columns: Int) { self.columns = columns }

  /// The rows without what is empty at their ends.
  var text: [String] {
    var lines = rows.map { row in
      var line = String(row)
      while line.last == " " { line.removeLast() }
      return line
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  mutating func write(_ text: String) {
    var rest = Substring(text)
    while let character = rest.popFirst() {
      switch character {
      case "\r": column = 0
      // Swift takes these two for one character.
      case "\r\n", "\n": down(scrolling: true)
      case "\u{1B}":
        let sequence = rest.prefix { !$0.isLetter }
        rest = rest.dropFirst(sequence.count)
        control(rest.popFirst() ?? " ", Int(sequence.dropFirst()) ?? 1)
      default: put(character)
      }
    }
  }

  private mutating func down(scrolling: Bool) {
    column = scrolling ? 0 : column
    if row + 1 < rows.count { row += 1 } else if scrolling { rows.append([]); row += 1 }
  }

  private mutating func control(_ letter: Character, _ count: Int) {
    switch letter {
    case "A":
      isBroken = isBroken || count > row
      row = max(0, row - count)
    case "B": for _ in 0..<count { down(scrolling: false) }
    case "K": rows[row] = Array(rows[row].prefix(column))
    case "J":
      rows[row] = Array(rows[row].prefix(column))
      for below in rows.indices where below > row { rows[below] = [] }
    // Colours, and whether long lines wrap: none does, or the terminal is broken.
    case "m", "l", "h": break
    default: isBroken = true
    }
  }

  private mutating func put(_ character: Character) {
    let width = String(character).columns
    isBroken = isBroken || column + width > columns
    while rows[row].count <= column { rows[row].append(" ") }
    rows[row][column] = character
    column += 1
  }
}
