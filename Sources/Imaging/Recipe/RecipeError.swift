/// Why a text is not a recipe.
package struct RecipeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line for people, without the place.
  package let message: String
  /// Where in the text: the number of UTF-8 bytes before it.
  package let offset: Int

  /// An error at a place.
  package init(_ message: String, at offset: Int) {
    self.message = message
    self.offset = offset
  }

  /// The message and the place.
  package var description: String { "\(message) (at offset \(offset))" }
}
