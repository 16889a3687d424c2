/// What a line of a text manifest is.
enum URLListLine: Equatable {
  /// Nothing, or a comment.
  case blank
  /// Without white space at its ends.
  case url(Substring)
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
      let problem = ManifestProblem(.encoding, "the line is not UTF-8", at: .line(number))
      self = .unreadable(problem, isIndented: isIndented)
      return
    }
    let content = URLListEntry.trimmed(text[...])
    guard let first = content.unicodeScalars.first, first != "#" else {
      self = .blank
      return
    }
    self = isIndented ? .option(content) : .url(content)
  }
}
