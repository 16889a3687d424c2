/// An error in the text of a recipe.
package struct RecipeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line for people, without the offset.
  package let message: String
  /// The offset in the text: the number of UTF-8 bytes before it.
  package let offset: Int

  package init(_ message: String, at offset: Int) { (self.message, self.offset) = (message, offset) }

  package var description: String { "\(message) (at offset \(offset))" }
}
