extension ManualPage {
  /// The page as `darkroom help` prints it: no line is longer than 80 columns, unless it is one of a file.
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
