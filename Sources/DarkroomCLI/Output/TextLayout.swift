import System

/// Texts in lines of 80 columns.
enum TextLayout {
  /// The columns of a line.
  static let columns = 80

  /// Wraps a text at spaces to a number of columns.
  /// - Parameter indent: The beginning of lines after the first; it does not count towards the columns.
  static func wrapped(_ text: String, columns: Int = columns, indent: String = "") -> String {
    var lines: [String] = []
    for word in text.split(whereSeparator: \.isWhitespace) {
      if let line = lines.last, line.count + 1 + word.count <= columns {
        lines[lines.count - 1] = line + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines.joined(separator: "\n" + indent)
  }

  /// Breaks a terminal line at spaces where it is too long; the rest is indented like the line, and two columns more. Words stay
  /// whole, and lines that fit do not change.
  static func folded(_ line: String, columns: Int) -> String {
    guard line.columns > columns else { return line }
    let margin = line.prefix { $0 == " " }
    let indent = margin + "  "
    var (lines, used) = ([String(margin)], margin.count)
    for (index, word) in line.dropFirst(margin.count).split(separator: " ", omittingEmptySubsequences: false)
      .enumerated()
    {
      let width = String(word).columns
      if index > 0, used + 1 + width > columns {
        lines.append(String(indent + word))
        used = indent.count + width
      } else {
        lines[lines.count - 1] += (index > 0 ? " " : "") + word
        used += (index > 0 ? 1 : 0) + width
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The paragraphs of a text, wrapped; blank lines separate them.
  static func paragraphs(_ text: String) -> [String] {
    var paragraphs: [[Substring]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.allSatisfy(\.isWhitespace) {
        paragraphs.append([])
      } else {
        paragraphs[paragraphs.count - 1].append(line)
      }
    }
    return paragraphs.filter { !$0.isEmpty }.map { wrapped($0.joined(separator: " ")) }
  }

  /// A term with its meaning beside it or, when it is long, on the lines after it.
  /// - Parameter width: The column of the meaning, without two columns of indent.
  static func row(_ term: String, _ meaning: String, width: Int = 28) -> String {
    let indent = "".padding(to: width + 2)
    let head = term.count < width ? "  " + term.padding(to: width) : "  " + term + "\n" + indent
    return head + wrapped(meaning, columns: columns - width - 2, indent: indent)
  }

  /// Lines of a shell or of a file.
  static func indented(_ lines: [String]) -> String { lines.map { "  " + $0 }.joined(separator: "\n") }
}

extension String {
  /// The text with control characters escaped, so that a name cannot forge a line or control the terminal.
  var visible: String { FileName(self).description }

  /// The text, filled with spaces up to a width.
  func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
