import Database
import Imaging
import JSON
import Model
import Transfer

extension Entry: DatabaseRecord {
  package static let columns: Columns = [
    "position", "priority", "name", "original", "explicit", "url", "recipe", "format", "quality", "metadata",
    "checksum", "key", "line", "variant", "first_row",
    "request_digest",
  ]

  package var values: [SQLiteValue] {
    [
      .integer(position), .integer(priority.rank), .text(name), .optional(originalName),
      .integer(isNameReplaced ? 2 : isNameExplicit ? 1 : 0), .text(urls[0]), .text(recipe.description),
      .text(options.format?.rawValue ?? "keep"), .integer(options.quality), .optional(metadata?.text),
      .optional(checksum?.description), .optional(key), .optional(line), .optional(variant), .optional(firstRow),
      .optional(requestDigest),
    ]
  }

  package init(_ row: Statement) throws { try self.init(row) { try Recipe(parsing: $0) } }

  /// Reads all but the mirrors and the request.
  /// - Parameter recipe: Parses the text of a recipe.
  /// - Throws: `JSONError`, `RecipeError`, `ParseError`: only when the index is damaged.
  init(_ row: Statement, recipe: (String) throws -> Recipe) throws {
    try self.init(
      position: row.integer(0), line: row.optionalInteger(12), variant: row.text(13),
      firstRow: row.optionalInteger(14), urls: [row.text(5) ?? ""], key: row.text(11), name: row.text(2) ?? "",
      originalName: row.text(3),
      isNameExplicit: row.integer(4) > 0, requestDigest: row.optionalInteger(15), isNameReplaced: row.integer(4) == 2,
      recipe: recipe(row.text(6) ?? ""),
      options: OutputOptions(format: ImageFormat(rawValue: row.text(7) ?? ""), quality: row.integer(8)),
      priority: Priority.allCases[row.integer(1)], checksum: row.text(10).map { try Checksum(parsing: $0) },
      metadata: row.text(9).map { try JSONValue(parsing: $0) })
  }

  /// The mirrors and the request as fields of an entry; nil for a plain GET of one URL. They are stored in a table of
  /// their own, since many entries have the same.
  var requestText: String? {
    if urls.count == 1, request == .plain { return nil }
    return JSONValue.object([.init("url", .array(urls.dropFirst().map(JSONValue.string)))] + request.members).text
  }

  /// Adds the mirrors and the request.
  /// - Throws: `JSONError`, `RequestFields.Problem`: only when the index is damaged.
  mutating func adopt(requestText text: String) throws {
    guard case .object(let members) = try JSONValue(parsing: text) else { return }
    if case .array(let mirrors)? = members.first(where: { $0.key == "url" })?.value {
      urls += mirrors.compactMap(\.string)
    }
    request = try RequestFields(members).request(defaults: RequestFields())
  }
}
