/// What a command is called with.
struct Invocation {
  let operands: [String]
  let settings: Settings
  let console: Console

  /// Reads the configuration file and all else again.
  let readAgain: @Sendable () throws -> Settings
}
