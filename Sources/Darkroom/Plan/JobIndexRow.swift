import Imaging
import Transfer

/// An entry as the index keeps it: values that SQLite has.
struct JobIndexRow: Sendable, Equatable {
  let position: Int

  /// The entry's priority, 0 for the highest.
  let turn: Int

  let name: String
  let original: String?
  let isExplicit: Bool
  let url: String
  let recipe: String
  let format: String
  let quality: Int
  let metadata: String?

  /// As it is parsed: `sha-256=…`.
  let checksum: String?

  /// The other mirrors and how all are asked, as JSON; nil for a plain GET of one URL.
  var request: String?
}

extension JobIndexRow {
  /// The row for a draft at a position of its manifest.
  init(_ draft: EntryReader.Draft, at position: Int) {
    let name = draft.name.map(OutputName.explicit) ?? OutputName.derived(fromURL: draft.url)
    self.init(
      position: position, turn: draft.priority.turn, name: name,
      original: draft.name.flatMap { $0 == name ? nil : $0 }, isExplicit: draft.name != nil, url: draft.url,
      recipe: draft.recipe.description, format: draft.options.format?.rawValue ?? "keep",
      quality: draft.options.quality, metadata: draft.metadata?.text, checksum: draft.checksum?.description,
      request: StoredRequest(mirrors: draft.mirrors, request: draft.request).text)
  }

  /// The URL and its mirrors, in order, and how they are asked.
  /// - Throws: As `entry`.
  var sources: (urls: [String], request: SourceRequest) {
    get throws {
      let stored = try StoredRequest(request)
      return ([url] + stored.mirrors, stored.request)
    }
  }

  /// The entry that the row stands for.
  /// - Parameter mirror: Which of its URLs is in use, from 0.
  /// - Throws: `ManifestProblem`, `RecipeError`, `Checksum.ParseError`, `RequestFields.Problem`: only when the index was
  ///   damaged.
  func entry(mirror: Int = 0) throws -> Entry {
    let (urls, request) = try sources
    return Entry(
      position: position, url: urls[mirror], mirrors: Array(urls[(mirror + 1)...]), request: request, name: name,
      originalName: original, recipe: try Recipe(parsing: recipe),
      options: OutputOptions(format: ImageFormat(rawValue: format), quality: quality),
      priority: Entry.Priority.allCases[turn], checksum: try checksum.map { try Checksum(parsing: $0) },
      metadata: try metadata.map(JSONValue.init(parsing:)))
  }
}

extension JobIndexRow {
  /// The extension of the result's file; `*` when it is the source's.
  var outputExtension: String { ImageFormat(rawValue: format)?.fileExtension ?? "*" }
}
