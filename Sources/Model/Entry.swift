import Imaging
import JSON
import Transfer

/// One line of a manifest as planned, or one of its variants: checked, with everything filled in that it leaves out. Each has a
/// row of the report.
package struct Entry: Sendable, Equatable {
  /// When an entry is worked on, relative to all others.
  package enum Priority: String, Sendable, CaseIterable {
    case veryHigh, high, normal, low, veryLow

    /// From 0 (`veryHigh`) to 4 (`veryLow`).
    package var rank: Int { Self.allCases.firstIndex(of: self) ?? 2 }
  }

  /// Place among the rows of the manifest, from 0.
  package var position = 0

  /// Place among the lines of the manifest, from 0; nil when that is `position`, since no line before it has variants.
  package var line: Int?

  /// The name of the variant; nil for a line without variants.
  package var variant: String?

  /// The position of the line's first variant; nil for a line without variants.
  package var firstRow: Int?

  /// The URL and its mirrors as they were written, in the order in which they are tried; at least one. They may hold
  /// secrets.
  package var urls: [String]

  /// How they are asked for. It may hold secrets.
  package var request = SourceRequest.plain

  /// The field `cache-key`: stands for the URL, within the job and its scheme, host and port, where requests are compared; nil
  /// for the URL itself.
  package var key: String?

  /// The output's path beneath `images/`, without extension; unique in its job once the manifest is planned.
  package var name: String

  /// The name as it was written, when that is not `name`.
  package var originalName: String?

  /// Whether the manifest gives the name; if not, it is derived from the URL.
  package var isNameExplicit = false

  /// Tells its request from others, for the first variant standing for all; nil for an entry whose name the manifest gives.
  package var requestDigest: Int?

  /// Whether the name that the manifest gives could not be stored by every system: what replaces it gets a number when it is
  /// taken.
  package var isNameReplaced = false

  package var recipe: Recipe
  package var options: OutputOptions
  package let priority: Priority

  /// The digest that the downloaded bytes must have; nil for any.
  package var checksum: Checksum?

  /// Any JSON, copied to the report.
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

  /// The name of a line, from that of an output. By bytes: with what comes before it, a variant's name need not begin with a
  /// character of its own.
  package static func lineName(_ name: String, variant: String) -> String {
    String(decoding: name.utf8.dropLast(variant.utf8.count + 1), as: UTF8.self)
  }

  /// The name that people know the entry by.
  package var shownName: String { originalName ?? name }
}
