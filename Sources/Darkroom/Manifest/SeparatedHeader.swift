import Imaging

/// The header row of a table: what each column means.
struct SeparatedHeader {
  private enum Column {
    case field(String)
    /// Lands in the metadata.
    case other(String)
    /// Begins with `_`.
    case comment
    case unnamed
  }

  /// More columns are a mistake, such as a separator that is not one.
  static let columnLimit = 1024

  private let columns: [Column]

  var count: Int { columns.count }

  /// - Throws: `ManifestProblem` for the first thing that is wrong.
  init(_ row: SeparatedRows.Row) throws(ManifestProblem) {
    guard row.count <= Self.columnLimit else {
      throw ManifestProblem(
        .tooLarge, "the limit is \(Self.columnLimit) columns; the header has \(row.count)", at: row.end)
    }
    var columns: [Column] = []
    var names: Set<String> = []
    for cell in row.cells {
      let name = cell.text.trimmingBlanks
      if name.isEmpty {
        columns.append(.unnamed)
      } else if name.hasPrefix("_") {
        columns.append(.comment)
      } else if names.insert(name).inserted {
        let isField = EntryReader.fields.contains(name) || EntryReader.laterFields.contains(name)
        columns.append(isField ? .field(name) : .other(name))
      } else {
        throw ManifestProblem(
          .syntax, "the header has the column \"\(name)\" twice", at: .line(cell.line, column: cell.column))
      }
    }
    guard names.contains("url") else {
      throw ManifestProblem(
        .badValue, "the header needs a column \"url\"" + Self.hint(names), at: .line(row.line, column: 1))
    }
    self.columns = columns
  }

  /// What may be meant by a header without a column `url`.
  private static func hint(_ names: Set<String>) -> String {
    let separators: [(Character, String)] = [
      ("\t", "by tabs, as in .tsv"), (",", "by commas, as in .csv"), (";", "by semicolons, as in .csv"),
    ]
    if names.count == 1, let only = names.first {
      for (separator, meaning) in separators
      where only.split(separator: separator).contains(where: { $0.trimmingBlanks.lowercased() == "url" }) {
        return "; its columns are separated \(meaning): give the file that extension"
      }
    }
    guard let near = NearestName.nearest(to: "url", among: names.sorted()) else { return "" }
    return near.lowercased() == "url" ? "; it has \"\(near)\", write it in small letters" : "; it has \"\(near)\""
  }

  /// What a row below the header means; nil for one without a value.
  func item(for row: SeparatedRows.Row) -> ManifestItem? {
    guard row.problems.isEmpty else { return .unreadable(row.problems) }
    guard row.count > count || row.cells.contains(where: { !$0.text.isEmpty }) else { return nil }
    guard row.count == count else {
      let message = "the row has \(row.count.of("cell", "cells")); the header has \(count)"
      return .unreadable([ManifestProblem(.syntax, message, at: row.end)])
    }
    var members: [JSONValue.Member] = []
    var metadata = SeparatedMetadata()
    var problems: [ManifestProblem] = []
    for (column, cell) in zip(columns, row.cells) where !cell.text.isEmpty {
      switch column {
      case .field("metadata"): metadata.read(cell)
      case .field("url"): members.append(.init("url", Self.url(cell.text)))
      case .field(let name) where ["headers", "form"].contains(name):
        do throws(ManifestProblem) {
          members.append(.init(name, try cell.json(of: name)))
        } catch {
          problems.append(error)
        }
      case .field("quality"): members.append(.init("quality", Self.number(cell.text)))
      case .field(let name): members.append(.init(name, .string(cell.text)))
      case .other(let name): metadata.add(name, cell)
      case .comment: break
      case .unnamed:
        problems.append(ManifestProblem(.syntax, "the column has a value, and no name in the header", at: cell.place))
      }
    }
    problems += metadata.problems
    guard problems.isEmpty else { return .unreadable(problems) }
    if let value = metadata.value { members.append(.init("metadata", value)) }
    return .entry(.object(members), key: nil, place: .line(row.line))
  }

  /// A JSON array means mirrors; anything else is a URL as it stands.
  private static func url(_ text: String) -> JSONValue {
    if text.hasPrefix("["), let value = try? JSONValue(parsing: text), case .array = value { return value }
    return .string(text)
  }

  private static func number(_ text: String) -> JSONValue {
    let text = text.trimmingBlanks
    return Int(text).map(JSONValue.integer) ?? Double(text).map(JSONValue.number) ?? .string(text)
  }
}

extension SeparatedRows.Cell {
  var place: ManifestProblem.Place { .line(line, column: column) }

  /// What a cell holds that holds JSON.
  func json(of column: String) throws(ManifestProblem) -> JSONValue {
    do {
      return try JSONValue(parsing: text)
    } catch {
      let problem = error as? ManifestProblem
      let message = "the column \"\(column)\" holds JSON: \(problem?.message ?? "\(error)")"
      throw ManifestProblem(problem?.code ?? .syntax, message, at: place)
    }
  }
}

extension StringProtocol {
  /// Without spaces and tabs at both ends.
  fileprivate var trimmingBlanks: String { String(URLListEntry.trimmed(Substring(self))) }
}
