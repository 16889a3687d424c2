/// What a line of a text manifest is.
enum TextLine: Equatable {
  /// Nothing, or a comment.
  case blank
  /// Without white space at its ends.
  case entry(Substring)
  /// An indented line, without white space at its ends.
  case option(Substring)
  case unreadable(ManifestProblem, isIndented: Bool)

  /// - Parameter line: nil for one beyond the limit.
  init(_ line: UnsafeRawBufferPointer?, number: Int) {
    guard let line else {
      self = .unreadable(ManifestFile.tooLong(line: number), isIndented: false)
      return
    }
    let isIndented = line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t")
    guard let text = String(validating: line, as: UTF8.self) else {
      let message = "the line is not UTF-8, and the file as a whole is not in Windows-1252 either"
      let problem = ManifestProblem(.encoding, message, at: .line(number))
      self = .unreadable(problem, isIndented: isIndented)
      return
    }
    let content = text.trimmingBlanks
    guard let first = content.unicodeScalars.first, first != "#" else {
      self = .blank
      return
    }
    self = isIndented ? .option(content) : .entry(content)
  }
}

extension StringProtocol where SubSequence == Substring {
  /// Without the spaces and tabs at both ends.
  var trimmingBlanks: Substring {
    let scalars = self[...].unicodeScalars
    let begun = scalars.drop { $0 == " " || $0 == "\t" }
    guard let last = begun.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return Substring(begun[...last])
  }
}
