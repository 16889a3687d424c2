extension Completion {
  /// The command by which the scripts of `Shell` ask the program. The help does not list it.
  static let command = "__complete"

  /// What `darkroom __complete SHELL LINE [BREAKS]` prints: `files` or `folders`, which the shell then completes, or `words` and
  /// a line for each candidate, as the shell takes it. Nothing when the arguments are invalid.
  /// - Parameter arguments: The shell, the line up to the cursor and, from bash, `COMP_WORDBREAKS`.
  static func lines(
    _ arguments: [String], commands: [CommandGroup], environment: [String: String]
  ) -> [String] {
    guard arguments.count > 1, let shell = Shell(rawValue: arguments[0]) else { return [] }
    let line = TypedLine(arguments[1], in: shell, breaks: arguments.dropFirst(2).first ?? "")
    let completion = Completion(line.words, commands: commands, environment: environment)
    return switch completion.answer {
    case .files: ["files"]
    case .folders: ["folders"]
    case .words(let candidates): ["words"] + candidates.compactMap { completion.text($0, line, in: shell) }
    }
  }

  /// A candidate as the shell takes it: in bash what readline inserts, in zsh what `_describe` takes, without the option that
  /// the value is attached to. nil for what bash, which does not select, must not get.
  private func text(_ candidate: Candidate, _ line: TypedLine, in shell: Shell) -> String? {
    switch shell {
    case .bash:
      return candidate.word.hasPrefix(current) ? line.replacement(candidate.word, isOpen: candidate.isOpen) : nil
    case .zsh:
      let value = String(candidate.word.dropFirst(optionPrefix.count))
      let escaped = value.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
      return candidate.summary.isEmpty ? escaped : escaped + ":" + candidate.summary
    case .fish:
      return candidate.word + "\t" + candidate.summary
    }
  }
}
