import Imaging
import JSON
import System

/// An additional output of an entry: one of its `variants`.
package struct EntryVariant: Equatable {
  package static let fields = ["name", "filters", "format", "quality"]

  /// The most variants of an entry.
  package static let limit = 64

  /// The greatest length of a name, in bytes. The name is appended to the entry's.
  static let nameLimit = 40

  package let name: String
  package let recipe: Recipe
  package let options: OutputOptions

  package init(name: String, recipe: Recipe, options: OutputOptions) {
    self.name = name
    self.recipe = recipe
    self.options = options
  }

  /// Why a text cannot be a variant's name, which is part of a file's name; nil when it can.
  package static func problem(withName name: String) -> String? {
    if name.isEmpty { return "the name of a variant must not be empty" }
    if name.utf8.count > nameLimit {
      return "the name of a variant may have \(nameLimit) bytes; this one has \(name.utf8.count)"
    }
    let isSafe =
      !name.has("/") && !name.begins(with: ".") && !name.begins(with: " ") && !name.ends(with: " ")
      && PortableName.replacing(name) == name
    return isSafe ? nil : "\"\(name)\" cannot be part of a file's name"
  }
}

extension Entry {
  /// The rows of an entry: itself, or one for each of its variants.
  package func rows(_ variants: [EntryVariant]) -> [Entry] {
    variants.isEmpty
      ? [self]
      : variants.enumerated().map { offset, variant in
        var row = self
        row.position += offset
        row.line = offset == 0 ? line : line ?? position
        row.firstRow = position
        if offset > 0 { row.requestDigest = nil }
        row.variant = variant.name
        row.originalName = shownName
        row.name = Self.name(name, variant.name)
        (row.recipe, row.options) = (variant.recipe, variant.options)
        return row
      }
  }

  package static func name(_ name: String, _ variant: String) -> String { name + "." + variant }
}

extension JSONValue {
  /// How many rows an entry has: one, or one for each of its variants.
  package var rowCount: Int { if case .array(let variants)? = self["variants"] { max(1, variants.count) } else { 1 } }
}
