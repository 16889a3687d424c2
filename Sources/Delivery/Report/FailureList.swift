import JobIndex
import JSON
import Ledger
import Manifests
import Model
import Scheduling

/// The lines of `JOB.failed.jsonl`: the failed entries, as a manifest. For a cancelled run it also contains the
/// cancelled entries on which failed ones depend, directly or indirectly. Without them the manifest would name unknown
/// entries, or lose the dependencies.
struct FailureList {
  let run: String
  let index: JobIndex
  let ledger: Ledger

  /// Whether rows of the run are cancelled.
  let hasCancelled: Bool

  /// Calls `body` with each line, without a line break, in the manifest's order.
  /// - Throws: Errors of `body`; `SQLiteError`, `ReportRow.RowError`, `JSONError`.
  func eachLine(_ body: (String) throws -> Void) throws {
    let (included, needed) = try index.hasDependencies ? positions() : (PositionSet(), PositionSet())
    // The rows of an entry with variants are consecutive, and become one line.
    var rows: [FailedRow] = []
    func writeLine() throws {
      guard let first = rows.first else { return }
      let after = try index.dependencyNames(of: first.entry.position, where: included.contains)
      var line = FailedRow.manifestLine(rows, after: after).text
      // A JSON manifest may have larger entries than a line.
      for omission in [FailedRow.Omission.metadata, .after, .both] where line.utf8.count > ManifestFile.lineLimit {
        line = FailedRow.manifestLine(rows, after: after, without: omission).text
      }
      try body(line)
      rows = []
    }
    try ledger.eachEndedPage(run: run) { page in
      for ended in page {
        let failure = try ReportRow(parsing: ended.row).failure
        guard failure != nil || needed.contains(ended.position), let entry = try index.entry(at: ended.position)
        else { continue }
        if entry.firstRow == nil || entry.firstRow != rows.first?.entry.firstRow { try writeLine() }
        rows.append(FailedRow(entry: entry, failure: failure))
      }
    }
    try writeLine()
  }

  /// - Returns: The positions of all rows in the list, and of the cancelled ones among them.
  private func positions() throws -> (included: PositionSet, needed: PositionSet) {
    var (included, cancelled, needed) = (PositionSet(), PositionSet(), PositionSet())
    // The positions whose dependencies must still be examined.
    var open: [Int] = []
    try ledger.eachEndedPage(run: run) { page in
      for ended in page {
        let row = try ReportRow(parsing: ended.row)
        if row.failure != nil {
          included.insert(ended.position)
          if hasCancelled { open.append(ended.position) }
        } else if row.state == .cancelled {
          cancelled.insert(ended.position)
        }
      }
    }
    while let position = open.popLast() {
      for dependency in try index.dependencies(of: position) where cancelled.contains(dependency.position) {
        guard included.insert(dependency.position) else { continue }
        needed.insert(dependency.position)
        open.append(dependency.position)
      }
    }
    return (included, needed)
  }
}

/// A row of the list of failures.
struct FailedRow {
  let entry: Entry
  /// nil for a cancelled row on which a failed one depends.
  let failure: ReportRow.Failure?

  /// What is left out of a line that would be too long.
  enum Omission { case nothing, metadata, after, both }

  /// The line for the rows of one entry.
  /// - Parameters:
  ///   - rows: At least one row; several for an entry with variants.
  ///   - after: The names of its dependencies in the list.
  ///   - omission: What is left out, with a note instead. Default: nothing.
  static func manifestLine(_ rows: [FailedRow], after: [String], without omission: Omission = .nothing) -> JSONValue {
    guard let first = rows.first else { return .object([]) }
    let entry = first.entry
    let metadata = omission == .nothing || omission == .after ? entry.metadata : nil
    let after = after.isEmpty ? nil : JSONValue.array(after.map(JSONValue.string))
    let omitsAfter = omission == .after || omission == .both
    let note = JSONValue.string("left out: too long for a line")
    let source = JSONValue.Member(
      "url", entry.urls.count == 1 ? .string(entry.urls[0]) : .array(entry.urls.map(JSONValue.string)))
    let made = entry.variant == nil ? entry.outputMembers : []
    let rest = JSONValue.object([
      "priority": .string(entry.priority.rawValue), "checksum": entry.checksum.map { .string($0.description) },
      "after": omitsAfter ? nil : after, "_after": omitsAfter ? after.map { _ in note } : nil,
      "variants": entry.variant == nil ? nil : .array(rows.map(\.variant)),
      "metadata": metadata, "_metadata": metadata == nil && entry.metadata != nil ? note : nil,
      "_error": rows.lazy.compactMap(\.failure).first?.json,
    ])
    let names = JSONValue.object(["name": .string(entry.shownName), "cache-key": entry.key.map { .string($0) }])
    guard case .object(let named) = names, case .object(let members) = rest else { return rest }
    return .object([source] + entry.request.members + named + made + members)
  }

  /// The row as a variant of its entry.
  private var variant: JSONValue {
    .object(
      [.init("name", .string(entry.variant ?? ""))] + entry.outputMembers
        + (failure.map { [.init("_error", $0.json)] } ?? []))
  }
}

extension Entry {
  /// The processing of its source, as fields.
  fileprivate var outputMembers: [JSONValue.Member] {
    [
      .init("filters", .string(recipe.description)), .init("format", .string(options.format?.rawValue ?? "keep")),
      .init("quality", .integer(options.quality)),
    ]
  }
}
