/// Text for a line of a terminal, parts of which have a style. It has no control characters.
struct StyledText: Sendable, Equatable {
  enum Style: String, Sendable {
    case plain = ""
    case bold = "1"
    case dim = "2"
    case good = "32"
    case bad = "31"
    case attention = "33"
  }

  private struct Span: Sendable, Equatable {
    var text: String
    let style: Style
  }

  private var spans: [Span] = []

  init(_ text: String = "", _ style: Style = .plain) {
    if !text.isEmpty { spans = [Span(text: text, style: style)] }
  }

  /// The columns that it occupies, at most.
  var columns: Int { spans.reduce(0) { $0 + $1.text.columns } }

  var text: String { spans.map(\.text).joined() }

  static func + (a: Self, b: Self) -> Self {
    var sum = a
    sum.spans += b.spans
    return sum
  }

  static func + (a: Self, b: String) -> Self { a + StyledText(b) }

  /// The text in at most so many columns: a text that is too long ends with `…`.
  func cut(toColumns limit: Int) -> Self {
    if columns <= limit { return self }
    var (cut, left) = (StyledText(), limit)
    for span in spans {
      let width = span.text.columns
      // The ellipsis needs a column, too.
      if width < left {
        cut.spans.append(span)
        left -= width
      } else {
        let text = (span.text + (width > left ? "" : "……")).cut(toColumns: left)
        if !text.isEmpty { cut.spans.append(Span(text: text, style: span.style)) }
        break
      }
    }
    return cut
  }

  /// The text with its escape sequences.
  /// - Parameter hasColour: Whether styles are shown (`SGR`).
  func rendered(hasColour: Bool) -> String {
    spans.map { span in
      hasColour && span.style != .plain ? "\u{1B}[\(span.style.rawValue)m\(span.text)\u{1B}[0m" : span.text
    }.joined()
  }
}

extension Sequence<StyledText> {
  func joined(separator: String) -> StyledText { reduce(StyledText()) { $0.columns == 0 ? $1 : $0 + separator + $1 } }
}
