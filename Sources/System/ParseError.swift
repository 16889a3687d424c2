/// A text does not have the expected form.
package struct ParseError: Error, Sendable {
  /// For people. Where the text is the value of a field, an option or a variable, it may continue after the name of that.
  package let message: String

  package init(_ message: String) { self.message = message }
}
