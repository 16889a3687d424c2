/// What the help says, made from the tables of commands and options.
enum HelpText {
  static var program: String {
    """
    darkroom: drop a list of picture URLs into a folder, get filtered pictures and a
    report in another.

    usage: darkroom COMMAND [OPTION…] [OPERAND…]

    commands:
    \(CommandTable.all.map { row($0.name + " " + $0.operands, $0.summary) }.joined(separator: "\n"))

    options (each is an environment variable too: --per-host is DARKROOM_PER_HOST):
    \(options)

    exit codes:
    \(ExitCode.allCases.map { row(String($0.rawValue), $0.summary, width: 6) }.joined(separator: "\n"))
    """
  }

  static func command(_ command: any Command) -> String {
    let details = command.details.isEmpty ? "" : "\n\n" + command.details
    return """
      usage: darkroom \(command.name) [OPTION…] \(command.operands)

      \(command.summary)\(details)

      "darkroom help" lists the options.
      """
  }

  private static var options: String {
    let rows = OptionTable.all.map { option in
      let letter = option.letter.map { "-\($0), " } ?? ""
      let usage = letter + "--" + option.name + (option.value.map { " " + $0 } ?? "")
      return row(usage, option.summary + (option.defaultText.map { " (default: \($0))" } ?? ""))
    }
    return (rows + [row("-h, --help", "this text"), row("--version", "the version")]).joined(separator: "\n")
  }

  private static func row(_ left: String, _ right: String, width: Int = 28) -> String {
    "  " + (left.count < width ? left.padding(to: width) : left + "\n" + "".padding(to: width + 2)) + right
  }
}

extension String {
  /// The text with spaces at its end up to a width.
  func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
