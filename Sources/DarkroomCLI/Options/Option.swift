/// An option of the command line. Most are environment variables and keys of the configuration file as well.
struct Option: Sendable {
  /// Without the dashes.
  let name: String
  var letter: Character?

  /// The commands that take it; nil for all. Others refuse it, but not the variable and the key, which are for whatever
  /// is called.
  var commands: [String]? = ["run", "watch"]

  /// Whether it is about one call alone, and so neither an environment variable nor a key.
  var isForOneCall = false

  /// What its value is called in the help; nil when it takes none.
  var value: String?

  /// The default in words; nil when there is none.
  var defaultText: String?
  let summary: String

  /// Takes the value over; an option without a value gets an empty text.
  /// - Throws: `UsageError` that says what a value must be.
  let apply: @Sendable (inout Settings, String) throws -> Void

  /// Whether a command takes it.
  func belongs(to command: String) -> Bool { commands?.contains(command) ?? true }

  /// The name of its environment variable.
  var variable: String { "DARKROOM_" + name.uppercased().replacing("-", with: "_") }
}
