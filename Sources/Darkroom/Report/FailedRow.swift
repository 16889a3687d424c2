import JSON

/// A row of the list of failures, which is a manifest.
struct FailedRow {
  let entry: Entry
  /// nil for a row that was cancelled, and that one that has failed comes after.
  let failure: ReportRow.Failure?

  /// The rows of one entry as a line.
  /// - Parameters:
  ///   - rows: At least one; several of an entry with variants.
  ///   - after: The names of the entries in the list that it comes after.
  static func manifestLine(_ rows: [FailedRow], after: [String]) -> JSONValue {
    guard let first = rows.first else { return .object([]) }
    let entry = first.entry
    let source = JSONValue.Member(
      "url", entry.urls.count == 1 ? .string(entry.urls[0]) : .array(entry.urls.map(JSONValue.string)))
    let made = entry.variant == nil ? entry.outputMembers : []
    let rest = JSONValue.object([
      "priority": .string(entry.priority.rawValue), "checksum": entry.checksum.map { .string($0.description) },
      "after": after.isEmpty ? nil : .array(after.map(JSONValue.string)),
      "variants": entry.variant == nil ? nil : .array(rows.map(\.variant)), "metadata": entry.metadata,
      "_error": rows.lazy.compactMap(\.failure).first?.json,
    ])
    let names = JSONValue.object(["name": .string(entry.shownName), "cache-key": entry.key.map { .string($0) }])
    guard case .object(let named) = names, case .object(let members) = rest else { return rest }
    return .object([source] + entry.request.members + named + made + members)
  }

  /// The row as one of the variants of its entry.
  private var variant: JSONValue {
    .object(
      [.init("name", .string(entry.variant ?? ""))] + entry.outputMembers
        + (failure.map { [.init("_error", $0.json)] } ?? []))
  }
}

extension Entry {
  /// What is made of its source, as fields.
  fileprivate var outputMembers: [JSONValue.Member] {
    [
      .init("filters", .string(recipe.description)), .init("format", .string(options.format?.rawValue ?? "keep")),
      .init("quality", .integer(options.quality)),
    ]
  }
}
