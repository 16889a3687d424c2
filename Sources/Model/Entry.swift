import Imaging
import JSON
import Transfer

/// One line of a manifest, or one variant of it, as planned: checked, with defaults filled in. Each entry has a row of
/// the report.
package struct Entry: Sendable, Equatable {
  /// The order in which entries are processed. Higher priorities come first.
  package enum Priority: String, Sendable, CaseIterable {
    case veryHigh, high, normal, low, veryLow

    /// From 0 (`veryHigh`) to 4 (`veryLow`).
    package var rank: Int { Self.allCases.firstIndex(of: self) ?? 2 }
  }

  /// The entry's number among the rows of the manifest, from 0.
  package var position = 0

  /// The line's number in the manifest, from 0; nil when it equals `position`, because no earlier line has variants.
  package var line: Int?

  /// The name of the variant; nil for a line without variants.
  package var variant: String?

  /// The position of the line's first variant; nil for a line without variants.
  package var firstRow: Int?

  /// The URL and its mirrors as written, at least one, in the order in which they are tried. They may contain secrets.
  package var urls: [String]

  /// The request that is sent for them. It may contain secrets.
  package var request = SourceRequest.plain

  /// The field `cache-key`. It replaces the URL, within the job and the URL's scheme, host and port, when requests are
  /// compared; nil to use the URL.
  package var key: String?

  /// The path of the output beneath `images/`, without extension. It is unique in its job once the manifest is planned.
  package var name: String

  /// The name as written; nil when it equals `name`.
  package var originalName: String?

  /// Whether the manifest gives the name. Otherwise it is derived from the URL.
  package var isNameExplicit = false

  /// A digest of the request, in the first variant for all variants; nil for an entry whose name the manifest gives.
  package var requestDigest: Int?

  /// Whether the given name cannot be stored by every system and was replaced. A replacement gets a number when it is
  /// taken.
  package var isNameReplaced = false

  package var recipe: Recipe
  package var options: OutputOptions
  package let priority: Priority

  /// The digest that the downloaded bytes must have. Default: nil, any.
  package var checksum: Checksum?

  /// JSON that is copied to the report.
  package var metadata: JSONValue?

  package init(
    position: Int = 0, line: Int? = nil, variant: String? = nil, firstRow: Int? = nil, urls: [String],
    request: SourceRequest = SourceRequest.plain, key: String? = nil, name: String, originalName: String? = nil,
    isNameExplicit: Bool = false, requestDigest: Int? = nil, isNameReplaced: Bool = false, recipe: Recipe,
    options: OutputOptions, priority: Priority, checksum: Checksum? = nil, metadata: JSONValue? = nil
  ) {
    self.position = position
    self.line = line
    self.variant = variant
    self.firstRow = firstRow
    self.urls = urls
    self.request = request
    self.key = key
    self.name = name
    self.originalName = originalName
    self.isNameExplicit = isNameExplicit
    self.requestDigest = requestDigest
    self.isNameReplaced = isNameReplaced
    self.recipe = recipe
    self.options = options
    self.priority = priority
    self.checksum = checksum
    self.metadata = metadata
  }

  /// Whether the result is a lossless copy: recipe `none`, format `keep`.
  package var isCopied: Bool { recipe.isEmpty && options.format == nil }

  /// The name of the line: `name` without that of the variant.
  package var lineName: String { variant.map { Self.lineName(name, variant: $0) } ?? name }

  /// The name of a line, from the name of an output. Works on bytes, since a variant's name that begins with a
  /// combining character forms one character with what precedes it.
  package static func lineName(_ name: String, variant: String) -> String {
    String(decoding: name.utf8.dropLast(variant.utf8.count + 1), as: UTF8.self)
  }

  /// The name that is shown to users.
  package var shownName: String { originalName ?? name }
}
