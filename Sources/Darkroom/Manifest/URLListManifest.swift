/// One URL per line; blank lines and lines that begin with `#` are passed over. Indented lines after a URL are options
/// of aria2's input format. Mirrors stand on one line, separated by tabs.
struct URLListManifest: ManifestFormat {
  let name = "txt"
  let extensions = ["txt", "urls"]

  func read(_ file: ManifestFile, _ yield: (ManifestItem) throws -> Void) throws {
    // Options stand on the lines after their URL, so an entry is complete when the next one begins.
    var entry: URLListEntry?
    try file.eachLine { line, number in
      switch URLListLine(line, number: number) {
      case .blank: break
      case .url(let url):
        if let entry { try yield(entry.item) }
        entry = URLListEntry(url, line: number)
      case .option(let option) where entry != nil: entry?.readOption(option, line: number)
      case .option:
        let problem = ManifestProblem(
          .syntax, "an indented line is an option of the URL before it, and there is none", at: .line(number))
        try yield(.unreadable([problem]))
      case .unreadable(let problem, isIndented: true) where entry != nil: entry?.report(problem)
      case .unreadable(let problem, _):
        // What follows may be its options.
        if let entry { try yield(entry.item) }
        entry = URLListEntry("", line: number)
        entry?.report(problem)
      }
    }
    if let entry { try yield(entry.item) }
  }
}
