extension ManualPage {
  /// The date of the last change of the manual. Pages are the same wherever they are made.
  private static let date = "November 26, 2026"

  /// The page in the language mdoc(7), in ASCII.
  var mdoc: String {
    var writer = MdocWriter()
    writer.request("Dd", Self.date)
    writer.request("Dt", name.uppercased(), String(section))
    writer.request("Os")
    writer.request("Sh", "NAME")
    writer.request("Nm", name)
    writer.request("Nd", summary)
    if !usages.isEmpty {
      writer.request("Sh", "SYNOPSIS")
      for usage in usages {
        writer.request("Nm")
        writer.line("Cm " + MdocWriter.word(usage.command))
        writer.line("Op Ar option ...")
        let operands = Self.operands(usage.operands)
        if !operands.isEmpty { writer.line(String(operands.dropFirst())) }
      }
    }
    for chapter in chapters {
      writer.request("Sh", chapter.title.uppercased())
      write(chapter.blocks, to: &writer)
    }
    let others = related.sorted { ($0.section, $0.name) < ($1.section, $1.name) }
    writer.request("Sh", "SEE ALSO")
    for (index, page) in others.enumerated() {
      writer.line("Xr \(page.name) \(page.section)" + (index + 1 < others.count ? " ," : ""))
    }
    return writer.text
  }

  private func write(_ blocks: [Block], to writer: inout MdocWriter) {
    var isAfterText = false
    for block in blocks {
      switch block {
      case .text(let text):
        if isAfterText { writer.request("Pp") }
        writer.paragraph(text)
        isAfterText = true
      case .heading(let title):
        writer.request("Ss", title.prefix(1).uppercased() + title.dropFirst())
        isAfterText = false
      case .code(let lines):
        writer.code(lines)
        isAfterText = true
      case .terms(let items):
        writer.line("Bl -tag -width Ds")
        for item in items {
          writer.line("It " + Self.head(item.term))
          write(item.meaning, to: &writer)
        }
        writer.line("El")
        isAfterText = true
      }
    }
  }

  private static func head(_ term: Term) -> String {
    switch term {
    case .command(let name, let operands): "Cm " + MdocWriter.word(name) + self.operands(operands)
    case .option(let option):
      (option.letter.map { "Fl \($0) , " } ?? "") + "Fl " + MdocWriter.word("-" + option.name)
        + (option.valueName.map { " Ar " + MdocWriter.word($0) } ?? "")
    case .variable(let name): "Ev " + MdocWriter.word(name)
    case .path(let path): "Pa " + MdocWriter.word(path)
    case .literal(let text): "Sy " + MdocWriter.words(text)
    case .literalWithValue(let name, let value): "Sy " + MdocWriter.word(name) + " Ar " + MdocWriter.words(value)
    }
  }

  /// The operands of a command as arguments of a macro; empty without any.
  private static func operands(_ operands: String) -> String {
    let isOptional = operands.hasPrefix("[")
    let name = operands.filter { !"[]…".contains($0) }
    guard !name.isEmpty else { return "" }
    return (isOptional ? " Op" : "") + " Ar " + MdocWriter.words(name) + (operands.contains("…") ? " ..." : "")
  }
}
