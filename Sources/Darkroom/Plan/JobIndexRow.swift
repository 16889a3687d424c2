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
}

extension JobIndexRow {
  /// The row for a draft at a position of its manifest.
  init(_ draft: EntryReader.Draft, at position: Int) {
    let name = draft.name.map(OutputName.explicit) ?? OutputName.derived(fromURL: draft.url)
    self.init(
      position: position, turn: draft.priority.turn, name: name,
      original: draft.name.flatMap { $0 == name ? nil : $0 }, isExplicit: draft.name != nil, url: draft.url,
      recipe: draft.recipe.description, format: draft.options.format?.rawValue ?? "keep",
      quality: draft.options.quality, metadata: draft.metadata?.text, checksum: draft.checksum?.description)
  }

  /// The entry that the row stands for.
  /// - Throws: `ManifestProblem`, `RecipeError`, `Checksum.ParseError`: only when the index was damaged.
  func entry() throws -> Entry {
    Entry(
      position: position, url: url, name: name, originalName: original, recipe: try Recipe(parsing: recipe),
      options: OutputOptions(format: ImageFormat(rawValue: format), quality: quality),
      priority: Entry.Priority.allCases[turn], checksum: try checksum.map { try Checksum(parsing: $0) },
      metadata: try metadata.map(JSONValue.init(parsing:)))
  }
}

extension JobIndexRow {
  /// The extension of the result's file; `*` when it is the source's.
  var outputExtension: String { ImageFormat(rawValue: format)?.fileExtension ?? "*" }
}
