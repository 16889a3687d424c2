/// What a command is called with.
struct Invocation {
  let operands: [String]
  let settings: Settings
  let console: Console

  /// What the command was called for. A reader that goes away ends the program; `console.result` goes on.
  let output: StandardOutput

  /// Reads the configuration file and all else again.
  let readAgain: @Sendable () throws -> Settings
}
