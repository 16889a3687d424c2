/// One URL per line; blank lines and lines that begin with `#` are passed over.
///
/// The option lines and mirrors of aria2's input format are refused by name.
struct URLListManifest: ManifestFormat {
  let name = "txt"
  let extensions = ["txt"]

  func read(_ file: ManifestFile, _ yield: (ManifestItem) throws -> Void) throws {
    try file.eachLine { line, number in
      guard let text = String(validating: line, as: UTF8.self) else {
        throw ManifestProblem(.encoding, "the line is not UTF-8", at: .line(number))
      }
      let trimmed = text.drop { $0 == " " || $0 == "\t" }
      guard let first = trimmed.first, first != "#" else { return }
      guard trimmed.startIndex == text.startIndex else {
        throw ManifestProblem(
          .syntax, "an indented line is an option of aria2's input format, which is not available in this version",
          at: .line(number))
      }
      guard !text.contains("\t") else {
        throw ManifestProblem(
          .syntax, "mirrors separated by tabs are not available in this version", at: .line(number))
      }
      var url = text[...]
      while url.last == " " { url.removeLast() }
      try yield(.entry(.string(String(url)), key: nil, place: .line(number)))
    }
  }
}
