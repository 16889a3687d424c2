import System

/// A command line up to the cursor, split into words by the shell's rules, without expansions.
struct TypedLine: Equatable {
  /// The words without their quotes. The last is the one at the cursor; it may be empty.
  private(set) var words = [""]

  /// The quote that is open at the cursor.
  private(set) var quote: Character?

  /// The number of characters of the last word that readline keeps: it replaces the text after the last break or open quote.
  private(set) var keptCount = 0

  /// - Parameter breaks: The characters at which readline divides words further, as `COMP_WORDBREAKS` lists them.
  init(_ line: String, in shell: Shell, breaks: String = "") {
    var word = ""
    var isInWord = false
    var isEscaped = false
    for character in line {
      if isEscaped {
        if let escapable = quote.flatMap(Self.escapable), !escapable.contains(character) { word.append("\\") }
        word.append(character)
        isEscaped = false
      } else if character == "\\", quote != "'" || shell == .fish {
        (isEscaped, isInWord) = (true, true)
      } else if character == quote {
        quote = nil
      } else if quote == nil, character == "'" || character == "\"" {
        (quote, isInWord, keptCount) = (character, true, word.count)
      } else if quote == nil, character.isWhitespace {
        guard isInWord else { continue }
        words[words.count - 1] = word
        words.append("")
        (word, isInWord, keptCount) = ("", false, 0)
      } else {
        word.append(character)
        isInWord = true
        if quote == nil, breaks.contains(character) { keptCount = word.count }
      }
    }
    words[words.count - 1] = word
  }

  /// The characters that a backslash escapes between these quotes.
  private static func escapable(_ quote: Character) -> String { quote == "'" ? "'\\" : "\\\"$`" }

  /// The text with which readline replaces the end of the last word, quoted like that word.
  /// - Parameter isOpen: Whether the word continues after the cursor, so that quotes are opened where there are none.
  func replacement(_ word: String, isOpen: Bool) -> String {
    let end = String(word.dropFirst(keptCount))
    switch quote {
    case "'": return end.replacing(every: "'", with: "'\\''")
    case "\"": return Self.escaped(end) { "\\\"$`".unicodeScalars.contains($0) }
    default:
      let needsEscapes = words[words.count - 1].dropFirst(keptCount).unicodeScalars.contains(where: Self.isSpecial)
      return isOpen && !needsEscapes ? "'" + end : Self.escaped(end, where: Self.isSpecial)
    }
  }

  private static func escaped(_ text: String, where isSpecial: (Unicode.Scalar) -> Bool) -> String {
    text.unicodeScalars.map { isSpecial($0) ? "\\\($0)" : String($0) }.joined()
  }

  private static func isSpecial(_ character: Unicode.Scalar) -> Bool {
    switch character {
    case "a"..."z", "A"..."Z", "0"..."9": false
    default: character.isASCII && !"-_./,:=@%+".unicodeScalars.contains(character)
    }
  }
}

extension Completion {
  /// The command by which the scripts of `Shell` ask the program. The help does not list it.
  static let command = "__complete"

  /// What `darkroom __complete SHELL LINE [BREAKS]` prints: `files` or `folders`, which the shell then completes, or `words` and
  /// a line for each candidate, in the form that the shell expects. Nothing when the arguments are invalid.
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

  /// A candidate in the shell's form: for bash the text that readline inserts, for zsh an argument of `_describe`, without the
  /// option that the value is attached to. nil for a candidate that bash must not get, because it does not select.
  private func text(_ candidate: Candidate, _ line: TypedLine, in shell: Shell) -> String? {
    switch shell {
    case .bash:
      return candidate.word.begins(with: current) ? line.replacement(candidate.word, isOpen: candidate.isOpen) : nil
    case .zsh:
      let value = candidate.word.dropping(bytesOf: optionPrefix)
      let escaped = value.replacing(every: "\\", with: "\\\\").replacing(every: ":", with: "\\:")
      return candidate.summary.isEmpty ? escaped : escaped + ":" + candidate.summary
    case .fish:
      return candidate.word + "\t" + candidate.summary
    }
  }
}
