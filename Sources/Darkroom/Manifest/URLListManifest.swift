/// One URL per line; blank lines and lines that begin with `#` are passed over. Indented lines after a URL are options
/// of aria2's input format, of which there is `out=`.
struct URLListManifest: ManifestFormat {
  let name = "txt"
  let extensions = ["txt", "urls"]

  func read(_ file: ManifestFile, _ yield: (ManifestItem) throws -> Void) throws {
    // Options stand on the lines after their URL, so an entry is complete when the next one begins.
    var entry: URLListEntry?
    try file.eachLine { line, number in
      guard let text = String(validating: line, as: UTF8.self) else {
        throw ManifestProblem(.encoding, "the line is not UTF-8", at: .line(number))
      }
      let content = URLListEntry.trimmed(text[...])
      guard let first = content.unicodeScalars.first, first != "#" else { return }
      if text.unicodeScalars.first == first {
        if let entry { try yield(entry.item) }
        entry = URLListEntry(content, line: number)
      } else if entry != nil {
        entry?.readOption(content, line: number)
      } else {
        let problem = ManifestProblem(
          .syntax, "an indented line is an option of the URL before it, and there is none", at: .line(number))
        try yield(.unreadable([problem]))
      }
    }
    if let entry { try yield(entry.item) }
  }
}
