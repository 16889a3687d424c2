/// A table: a header row that names entry fields, then one entry per row.
struct SeparatedManifest: ManifestFormat {
  let name: String
  private let separators: [UInt8]

  var extensions: [String] { [name] }

  /// Commas, or semicolons when the header has them.
  static let csv = SeparatedManifest(name: "csv", separators: [UInt8(ascii: ","), UInt8(ascii: ";")])

  /// Tabs.
  static let tsv = SeparatedManifest(name: "tsv", separators: [UInt8(ascii: "\t")])

  func read(_ file: ManifestFile, _ yield: (ManifestItem) throws -> Void) throws {
    var rows = SeparatedRows(separators: separators, cellLimit: SeparatedHeader.columnLimit)
    var header: SeparatedHeader?
    func take(_ rows: inout SeparatedRows, _ row: SeparatedRows.Row) throws {
      if header == nil, let problem = row.problems.first { throw problem }
      if let header {
        if let item = header.item(for: row) { try yield(item) }
      } else if !isSeparatorLine(row), row.cells.contains(where: { !$0.text.isEmpty }) {
        let found = try SeparatedHeader(row)
        rows.cellLimit = found.count
        header = found
      }
    }
    try file.eachChunk(allowingUTF16: true) { try rows.push($0, take) }
    try rows.finish(take)
    guard header != nil else { throw ManifestProblem(.syntax, "the file has no header row", at: .file) }
  }

  /// Whether a row before the header is `sep=;`, by which Excel is told the separator.
  private func isSeparatorLine(_ row: SeparatedRows.Row) -> Bool {
    row.line == 1 && separators.count > 1 && row.cells.map(\.text) == ["sep=", ""]
  }
}
