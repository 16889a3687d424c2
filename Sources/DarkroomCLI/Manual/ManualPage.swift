/// A page of the manual, as a value: `mdoc` prints it for `man`, `text` for a terminal. Text in backquotes is literal.
struct ManualPage: Sendable {
  /// The name of the page, such as `darkroom-manifest`.
  let name: String

  /// 1 for commands, 5 for file formats.
  let section: Int

  /// The page's subject, in a line without a full stop.
  let summary: String

  /// The synopses of the program; none for file formats.
  var usages: [(command: String, operands: String)] = []

  let chapters: [Chapter]

  /// Pages about other programs or files, with their sections.
  let related: [(name: String, section: Int)]

  /// The file's name where it is installed.
  var file: String { "\(name).\(section)" }

  struct Chapter: Sendable {
    /// In lower case, as in plain text.
    let title: String
    let blocks: [Block]

    init(_ title: String, _ blocks: [Block]) { (self.title, self.blocks) = (title, blocks) }
  }

  enum Block: Sendable {
    case text(String)
    case heading(String)
    case terms([Item])
    /// Lines of a file or a shell.
    case code([String])
  }

  /// A term of a list, with its meaning.
  struct Item: Sendable {
    let term: Term
    let meaning: [Block]

    init(_ term: Term, _ meaning: String) {
      self.term = term
      self.meaning = [.text(meaning)]
    }

    init(_ term: Term, _ meaning: [Block]) { (self.term, self.meaning) = (term, meaning) }
  }

  enum Term: Sendable {
    case command(String, operands: String)
    case option(Option)
    case variable(String)
    case path(String)
    case literal(String)
    /// A literal word with a value after it.
    case literalWithValue(String, String)

    var text: String {
      switch self {
      case .command(let name, ""), .variable(let name), .path(let name), .literal(let name): name
      case .command(let name, let operands), .literalWithValue(let name, let operands): name + " " + operands
      case .option(let option): option.usage
      }
    }
  }

  /// The page as `darkroom help` prints it: no line is longer than 80 columns, except lines of files.
  var text: String {
    let head = TextLayout.wrapped("\(name): \(summary).")
    return
      ([head]
      + chapters.map { chapter in
        chapter.title + ":\n" + Self.text(chapter.blocks, indent: 2)
      }).joined(separator: "\n\n")
  }

  private static func text(_ blocks: [Block], indent: Int) -> String {
    let margin = String(repeating: " ", count: indent)
    return blocks.map { block in
      switch block {
      case .text(let text):
        margin + TextLayout.wrapped(plain(text), columns: TextLayout.columns - indent, indent: margin)
      case .heading(let title): margin + title + ":"
      case .code(let lines): lines.map { margin + "  " + $0 }.joined(separator: "\n")
      case .terms(let items): items.map { text($0, indent: indent) }.joined(separator: "\n")
      }
    }.joined(separator: "\n\n")
  }

  private static func text(_ item: Item, indent: Int) -> String {
    if item.meaning.count == 1, case .text(let meaning) = item.meaning[0] {
      return TextLayout.row(item.term.text, plain(meaning), width: 22)
    }
    let margin = String(repeating: " ", count: indent)
    return margin + item.term.text + "\n" + text(item.meaning, indent: indent + 4)
  }

  private static func plain(_ text: String) -> String { text.replacing("`", with: "") }
}

/// The manual, made from the definitions that the program works with.
enum Manual {
  static let names = ["darkroom", "darkroom-events", "darkroom-manifest", "darkroom-report"]

  static func pages(_ commands: [CommandGroup]) -> [ManualPage] {
    [DarkroomPage.page(commands), EventsPage.page, ManifestPage.page, ReportPage.page]
  }
}
