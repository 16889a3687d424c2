import JSON
import System

/// The header row of a table: the meaning of each column.
struct DelimitedHeader {
  private enum Column {
    case field(String, FieldVocabulary.CellKind)
    /// Added to the field for extras.
    case other(String)
    /// Begins with `_`.
    case comment
    case unnamed

    var isComment: Bool { if case .comment = self { true } else { false } }
  }

  /// More columns are an error, such as a wrong separator.
  static let columnLimit = 1024

  private let columns: [Column]
  private let extras: String
  private let principal: String

  /// The columns that are not fields but nearly have the name of one.
  let warnings: [ManifestWarning]

  var count: Int { columns.count }

  /// - Throws: `ManifestProblem` for the first error.
  init(_ row: DelimitedRows.Row, _ fields: FieldVocabulary) throws(ManifestProblem) {
    guard row.count <= Self.columnLimit else {
      throw ManifestProblem(
        .tooLarge, "the limit is \(Self.columnLimit) columns; the header has \(row.count)", at: row.end)
    }
    var columns: [Column] = []
    var names: [String: ManifestProblem.Location] = [:]
    for cell in row.cells {
      let name = String(cell.text.trimmingBlanks)
      if name.isEmpty {
        columns.append(.unnamed)
      } else if name.hasPrefix("_") {
        columns.append(.comment)
      } else {
        let field = fields.field(name)
        if let first = names.updateValue(cell.location, forKey: field ?? name) {
          throw ManifestProblem(
            .syntax, "the header has the column \"\(name)\" twice; the first time at \(first)", at: cell.location)
        }
        columns.append(field.flatMap { field in fields.cells[field].map { .field(field, $0) } } ?? .other(name))
      }
    }
    let needed = fields.principal
    guard names[needed] != nil else {
      let message = "the header needs a column \"\(needed)\"" + Self.hint(row, fields)
      throw ManifestProblem(.badValue, message, at: .line(row.line, column: 1))
    }
    self.columns = columns
    (extras, principal) = (fields.extras, fields.principal)
    warnings = Self.warnings(columns, names, fields)
  }

  /// A field that has its own column is not suggested for another one.
  private static func warnings(
    _ columns: [Column], _ locations: [String: ManifestProblem.Location], _ fields: FieldVocabulary
  ) -> [ManifestWarning] {
    let missing = fields.cells.keys.filter { locations[$0] == nil }.sorted()
    return columns.compactMap { column in
      guard case .other(let name) = column else { return nil }
      let isTitle = locations[fields.title] == nil && fields.titleHints.contains(name.lowercased())
      guard let near = isTitle ? fields.title : NearestName.misspelt(name, among: missing) else { return nil }
      let advice = isTitle ? "call it \"\(near)\" if it names the pictures" : "did you mean \"\(near)\"?"
      let message = "the column \"\(name)\" is not a field and goes to \"\(fields.extras)\"; \(advice)"
      return ManifestWarning(.unknownColumn, message, at: locations[name] ?? .file)
    }
  }

  /// The number of columns, and of characters of each, that messages quote.
  private static let (quotedColumns, quotedLength) = (10, 60)

  /// A hint for a header without a required column: its separator if that is wrong, else its columns as they were read, and
  /// which of them to rename.
  private static func hint(_ row: DelimitedRows.Row, _ fields: FieldVocabulary) -> String {
    let needed = fields.principal
    let names = row.cells.map { String($0.text.trimmingBlanks) }
    if let separator = otherSeparator(names, needed) { return "; its columns are separated \(separator)" }
    // What is no name may be a secret.
    guard names.allSatisfy({ name in !"{}[]\":/".contains(where: name.contains) }) else {
      return "; the first row looks like an entry"
    }
    let columns = names.prefix(quotedColumns).map(quoted).joined(separator: ", ")
    let likely = names.filter { name in fields.principalHints.contains(where: name.lowercased().contains) }
    var hint = "; it has " + columns + (names.count > quotedColumns ? ", …" : "")
    guard !likely.isEmpty else { return hint }
    hint += "; rename \(likely.prefix(quotedColumns).map(quoted).joined(separator: " or ")) to \"\(needed)\""
    let hasTitle = names.count == 1 || names.contains { fields.field($0) == fields.title }
    return hint + (hasTitle ? "" : ", and the column that names the pictures, if there is one, to \"\(fields.title)\"")
  }

  /// The separator of a header that has no column but one in which another separator stands, and what to do; nil for other headers.
  private static func otherSeparator(_ names: [String], _ needed: String) -> String? {
    let separators: [(Character, String)] = [
      ("\t", "by tabs, as in .tsv: give the file that extension"),
      (",", "by commas, as in .csv: give the file that extension"),
      (";", "by semicolons, as in .csv: give the file that extension"),
      ("|", "by \"|\", which neither .csv nor .tsv has: write commas"),
    ]
    guard names.count == 1, let only = names.first else { return nil }
    return separators.first { separator, _ in
      only.split(separator: separator).contains { $0.trimmingBlanks.lowercased() == needed } && only.contains(separator)
    }?.1
  }

  private static func quoted(_ name: String) -> String {
    "\"\(name.prefix(quotedLength))" + (name.count > quotedLength ? "…\"" : "\"")
  }

  /// What to do about a row that has not as many cells as the header. Surplus cells may be the end of one that the separator
  /// divides, also when they are empty: such a row is not accepted, since its other cells may be in the wrong columns.
  private func remedy(for row: DelimitedRows.Row) -> String {
    if row.count < count { return "empty cells need their separators, too" }
    let quotes = "a cell that contains the separator needs quotes around it"
    return row.hasSurplusText ? quotes : "those at the end are empty: remove the extra separators; or \(quotes)"
  }

  /// The item of a row below the header; nil for an empty row. A row without a value for the principal field gets an empty one,
  /// which is invalid for this entry alone.
  func item(for row: DelimitedRows.Row) -> ManifestItem? {
    if let problems = EntryProblems(row.problems) { return .unreadable(problems) }
    guard row.count > count || zip(columns, row.cells).contains(where: { !$0.isComment && !$1.text.isEmpty }) else {
      return nil
    }
    guard row.count == count else {
      let message = "the row has \(row.count.of("cell", "cells")), the header \(count); \(remedy(for: row))"
      return .unreadable(EntryProblems(ManifestProblem(.syntax, message, at: row.end)))
    }
    var members: [JSONValue.Member] = []
    var extras = ExtraColumns(field: self.extras)
    var problems: [ManifestProblem] = []
    for (column, cell) in zip(columns, row.cells) where !cell.isBlank {
      switch column {
      case .field(_, .extras): extras.read(cell)
      case .field(let name, .textOrArray): members.append(.init(name, Self.textOrArray(cell.text)))
      case .field(let name, .json):
        do throws(ManifestProblem) {
          members.append(.init(name, try cell.json(of: name)))
        } catch {
          problems.append(error)
        }
      case .field(let name, .number): members.append(.init(name, Self.number(cell.text)))
      case .field(let name, .text): members.append(.init(name, .string(cell.text)))
      case .other(let name): extras.add(name, cell)
      case .comment: break
      case .unnamed:
        problems.append(ManifestProblem(.syntax, "the column has a value but no name in the header", at: cell.location))
      }
    }
    problems += extras.problems
    if let problems = EntryProblems(problems) { return .unreadable(problems) }
    if let value = extras.value { members.append(.init(self.extras, value)) }
    if !members.contains(where: { $0.key == principal }) { members.insert(.init(principal, .string("")), at: 0) }
    return .entry(.object(members), key: nil, location: .line(row.line))
  }

  private static func textOrArray(_ text: String) -> JSONValue {
    if text.hasPrefix("["), let value = try? JSONValue(parsing: text), case .array = value { return value }
    return .string(text)
  }

  private static func number(_ text: String) -> JSONValue {
    let text = String(text.trimmingBlanks)
    return Int(text).map(JSONValue.integer) ?? Double(text).map(JSONValue.number) ?? .string(text)
  }
}

extension DelimitedRows.Cell {
  var location: ManifestProblem.Location { .line(line, column: column) }

  /// Whether it is empty, or has blanks only.
  var isBlank: Bool { text.utf8.allSatisfy(" \t".utf8.contains) }

  /// The value of a cell that contains JSON.
  func json(of column: String) throws(ManifestProblem) -> JSONValue {
    do throws(JSONError) {
      return try JSONValue(parsing: text)
    } catch {
      let problem = ManifestProblem(error)
      throw ManifestProblem(problem.code, "the column \"\(column)\" holds JSON: \(problem.message)", at: location)
    }
  }
}

/// The field of a row for everything that is not a field: the JSON of its own column, and the other columns as
/// strings.
struct ExtraColumns {
  private let field: String

  private var given: (value: JSONValue, location: ManifestProblem.Location)?
  private var others: [JSONValue.Member] = []

  private var unreadable: [ManifestProblem] = []

  init(field: String) { self.field = field }

  /// Reads the cell of the field's own column.
  mutating func read(_ cell: DelimitedRows.Cell) {
    do throws(ManifestProblem) {
      given = (try cell.json(of: field), cell.location)
    } catch {
      unreadable.append(error)
    }
  }

  /// Adds the cell of a column that is not a field.
  mutating func add(_ name: String, _ cell: DelimitedRows.Cell) { others.append(.init(name, .string(cell.text))) }

  var problems: [ManifestProblem] {
    guard let given, !others.isEmpty else { return unreadable }
    guard case .object(let members) = given.value else {
      let message = "\"\(field)\" must be an object, not \(given.value.kind): other columns are added to it"
      return unreadable + [ManifestProblem(.wrongType, message, at: given.location)]
    }
    let keys = Set(members.map(\.key))
    return unreadable
      + others.filter { keys.contains($0.key) }.map {
        ManifestProblem(.badValue, "\"\(field)\" has the key \"\($0.key)\", which is a column too", at: given.location)
      }
  }

  var value: JSONValue? {
    guard let given else { return others.isEmpty ? nil : .object(others) }
    guard case .object(let members) = given.value else { return given.value }
    return .object(members + others)
  }
}
