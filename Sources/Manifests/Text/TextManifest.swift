import System

/// A list: one value of the principal field per line, such as a URL; blank lines and lines that begin with `#` are ignored.
/// Indented lines after it are options of aria2's input format. Alternatives are on one line, separated by
/// tabs.
struct TextManifest: ManifestFormat {
  let name = "txt"
  let extensions = ["txt", "urls"]
  let summary =
    "text: one URL on each line; lines that begin with # are comments; mirrors are separated by tabs, or by "
    + "spaces if they are URLs; indented lines after a URL are options as in the input files of aria2: out=, checksum=, "
    + "header=, referer=; its others are ignored"

  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    // Options are on the lines after their entry, so an entry is complete when the next one begins.
    var entry: TextEntry?
    var ignored = IgnoredOptions()
    let foreign = try file.eachTextLine { line, number in
      switch TextLine(line, number: number) {
      case .blank: break
      case .entry(let content):
        if let entry {
          try yield(entry.item)
        } else if let other = Self.otherFormat(content) {
          throw ManifestProblem(.syntax, other, at: .line(number))
        }
        entry = TextEntry(content, line: number, fields)
      case .option(let option) where entry != nil: entry?.readOption(option, line: number, &ignored)
      case .option:
        let message = "an indented line is an option of the \(fields.principalTitle) before it, and there is none"
        try yield(.unreadable(EntryProblems(ManifestProblem(.syntax, message, at: .line(number)))))
      case .unreadable(let problem, isIndented: true) where entry != nil: entry?.report(problem)
      case .unreadable(let problem, _):
        // The next lines may be its options.
        if let entry { try yield(entry.item) }
        entry = TextEntry("", line: number, fields)
        entry?.report(problem)
      }
    }
    if let entry { try yield(entry.item) }
    if let foreign { try yield(.warning(foreign)) }
    if let warning = ignored.warning { try yield(.warning(warning)) }
  }

  /// What a file with this first line is instead of a list, and the extension that it needs; nil for a list.
  private static func otherFormat(_ line: Substring) -> String? {
    if let first = line.first, let last = line.last, "{[".contains(first), "{}[],\"".contains(last) {
      return "this is JSON: give the file the extension .json, or .jsonl if each line is an entry"
    }
    // URLs have slashes, and names of files dots; a list may begin with a file called url.
    guard !line.contains(where: "./".contains), line.contains(where: ",;\t".contains),
      ManifestRecognition.isHeader(String(line))
    else { return nil }
    return "this is the header of a table: give the file the extension \(line.contains("\t") ? ".tsv" : ".csv")"
  }
}

/// The kind of a line of a text manifest.
enum TextLine: Equatable {
  /// An empty line, or a comment.
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
    if Self.hasBareReturn(line) {
      let message = "a carriage return ends no line: save it with LF or CRLF"
      self = .unreadable(ManifestProblem(.syntax, message, at: .line(number)), isIndented: false)
      return
    }
    let isIndented = line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t")
    guard let text = String(validating: line, as: UTF8.self) else {
      let message = "the line is not UTF-8, and the file as a whole is not in Windows-1252 either"
      let problem = ManifestProblem(.encoding, message, at: .line(number))
      self = .unreadable(problem, isIndented: isIndented)
      return
    }
    if text.hasTooManyMarks {
      self = .unreadable(.tooManyMarks(at: .line(number)), isIndented: isIndented)
      return
    }
    let content = text.trimmingBlanks
    guard let first = content.unicodeScalars.first, first != "#" else {
      self = .blank
      return
    }
    if !isIndented, Self.isSecretOption(content.utf8) {
      // Not quoted: the reports are for everybody.
      let message = "a header or a password of a URL is on an indented line after it, such as \"  header=NAME: VALUE\""
      self = .unreadable(ManifestProblem(.syntax, message, at: .line(number)), isIndented: true)
      return
    }
    self = isIndented ? .option(content) : .entry(content)
  }

  /// Whether a line is a header or a password whose indentation was forgotten, and not a URL or a file.
  private static func isSecretOption(_ line: Substring.UTF8View) -> Bool {
    guard let end = line.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }),
      line.distance(from: line.startIndex, to: end) < 32
    else { return false }
    let name = String(decoding: line[..<end], as: UTF8.self).trimmingBlanks.lowercased()
    return secrets.contains(name) || name.hasSuffix("-passwd")
  }

  private static let secrets: Set = [
    "header", "headers", "authorization", "proxy-authorization", "cookie", "set-cookie", "api-key", "x-api-key",
    "x-auth-token",
  ]

  /// Whether something follows a carriage return, other than white space: a file of an old Macintosh is one line.
  private static func hasBareReturn(_ line: UnsafeRawBufferPointer) -> Bool {
    guard let start = line.firstIndex(of: UInt8(ascii: "\r")) else { return false }
    return line[start...].contains { !"\r \t".utf8.contains($0) }
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
