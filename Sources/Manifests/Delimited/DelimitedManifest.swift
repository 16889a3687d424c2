/// A table: a header row that names entry fields, then one entry per row.
struct DelimitedManifest: ManifestFormat {
  let name: String
  let summary: String
  private let separators: [UInt8]

  var extensions: [String] { [name] }

  /// Commas, or semicolons when the header has them.
  static let csv = DelimitedManifest(
    name: "csv",
    summary: "a table: a header row that names fields, then an entry on each row; columns that are not fields "
      + "are metadata", separators: [UInt8(ascii: ","), UInt8(ascii: ";")])

  static let tsv = DelimitedManifest(
    name: "tsv", summary: "a table whose cells are separated by tabs", separators: [UInt8(ascii: "\t")])

  func read(_ file: ManifestFile, _ fields: FieldVocabulary, _ yield: (ManifestItem) throws -> Void) throws {
    var rows = DelimitedRows(separators: separators, cellLimit: DelimitedHeader.columnLimit)
    var header: DelimitedHeader?
    func take(_ rows: inout DelimitedRows, _ row: DelimitedRows.Row) throws {
      if header == nil, let problem = row.problems.first { throw problem }
      if let header {
        if let item = header.item(for: row) { try yield(item) }
      } else if !isSeparatorLine(row), !row.cells.allSatisfy(\.isBlank) {
        let found = try DelimitedHeader(row, fields)
        for warning in found.warnings { try yield(.warning(warning)) }
        rows.cellLimit = found.count
        header = found
      }
    }
    let foreign = try file.eachTextChunk(mayBeUTF16: true) { try rows.push($0, take) }
    try rows.finish(take)
    if let foreign { try yield(.warning(foreign)) }
    guard header != nil else { throw ManifestProblem(.syntax, "the file has no header row", at: .file) }
  }

  /// Whether a row before the header is `sep=;`, in any case, which tells Excel the separator.
  private func isSeparatorLine(_ row: DelimitedRows.Row) -> Bool {
    row.line == 1 && separators.count > 1 && row.cells.map { $0.text.lowercased() } == ["sep=", ""]
  }
}
