/// What a command is called with.
struct Invocation {
  let operands: [String]
  let settings: Settings
  let console: Console
}
