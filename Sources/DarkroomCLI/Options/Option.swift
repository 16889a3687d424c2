/// An option of the command line, which is an environment variable as well.
struct Option: Sendable {
  /// Without the dashes.
  let name: String
  var letter: Character?

  /// The one command that it belongs to; nil for all. Such an option is no environment variable.
  var command: String?

  /// What its value is called in the help; nil when it takes none.
  var value: String?

  /// The default in words; nil when there is none.
  var defaultText: String?
  let summary: String

  /// Takes the value over; an option without a value gets an empty text.
  /// - Throws: `UsageError` that says what a value must be.
  let apply: @Sendable (inout Settings, String) throws -> Void

  /// The name of its environment variable.
  var variable: String { "DARKROOM_" + name.uppercased().replacing("-", with: "_") }
}
