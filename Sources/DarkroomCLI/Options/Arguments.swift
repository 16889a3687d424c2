import System

/// A parsed command line: the command, its operands, and its options.
struct Arguments: Equatable {
  var command: String?
  var operands: [String] = []
  /// Options by name, in the order given.
  var options: [Given] = []
  var wantsHelp = false
  var wantsVersion = false

  /// The first operand that may be meant as the value of the flag before it, and that flag. A flag's value follows `=`.
  var detachedValue: Given?

  /// An option and its value; `1` for a flag that is given without one.
  struct Given: Equatable {
    let name: String
    let value: String
  }

  /// Parses the words after the program's name. Options may stand before and after operands; `--` ends them.
  /// - Throws: `UsageError` for an unknown option, with the nearest known one, and for a missing value.
  init(_ words: [String]) throws {
    var words = words[...]
    // The option that the last word was, and the number of options so far.
    var (last, count) = (Given?.none, 0)
    while let word = words.popFirst() {
      if word == "--" {
        operands += words
        break
      } else if word.begins(with: "--") {
        try parseLong(word.dropping(bytesOf: "--"), &words)
      } else if word.begins(with: "-"), word != "-" {
        for letter in word.dropping(bytesOf: "-") { try parseShort(letter, of: word) }
      } else if command == nil {
        command = word
      } else {
        if let last, detachedValue == nil, Self.switches.contains(word.lowercased()),
          OptionTable.option(named: last.name)?.valueName == nil
        {
          detachedValue = Given(name: last.name, value: word)
        }
        operands.append(word)
      }
      last = options.count > count ? options.last : nil
      count = options.count
    }
    if command == nil, !operands.isEmpty { command = operands.removeFirst() }
  }

  /// Words that switch something on or off.
  private static let switches: Set = ["on", "off", "yes", "no", "true", "false"]

  /// The words that are no options or their values, of a command line that may have mistakes.
  static func operands(in words: [String]) -> [String] {
    var (operands, rest): ([String], ArraySlice<String>) = ([], words[...])
    while let word = rest.popFirst() {
      if word == "--" { return operands + rest }
      if word == "-" || !word.begins(with: "-") {
        operands.append(word)
      } else if OptionTable.option(named: word.dropping(bytesOf: "--"))?.valueName != nil {
        _ = rest.popFirst()
      }
    }
    return operands
  }

  private mutating func parseLong(_ word: String, _ rest: inout ArraySlice<String>) throws {
    let parts = word.fields("=", most: 2, omittingEmpty: false)
    let name = parts[0]
    if name == "help" { return wantsHelp = true }
    if name == "version" { return wantsVersion = true }
    guard let option = OptionTable.option(named: name) else { throw Self.unknown("--" + name) }
    let attached = parts.count == 2 ? parts[1] : nil
    guard let valueName = option.valueName else {
      return options.append(Given(name: name, value: attached ?? "1"))
    }
    guard let value = attached ?? rest.popFirst() else {
      throw UsageError("--\(name) needs a value: --\(name) \(valueName)")
    }
    options.append(Given(name: name, value: value))
  }

  private mutating func parseShort(_ letter: Character, of word: String) throws {
    if letter == "h" { return wantsHelp = true }
    // A value may be a secret.
    guard let option = OptionTable.all.first(where: { $0.letter == letter }) else {
      throw Self.unknown(String(word.prefix { $0 != "=" }))
    }
    options.append(Given(name: option.name, value: "1"))
  }

  /// - Parameter word: The option as given, with its dashes.
  private static func unknown(_ word: String) -> UsageError {
    let name = word.drop { $0 == "-" }.prefix { $0 != "=" }
    if name.hasPrefix("no-"), let flag = OptionTable.option(named: String(name.dropFirst(3))), flag.valueName == nil {
      return UsageError("unknown option \"\(word)\"; did you mean \"\(flag.longName)=off\"?")
    }
    let nearest = NearestName.nearest(to: String(name), among: OptionTable.all.map(\.name) + ["help", "version"])
    return UsageError("unknown option \"\(word)\"" + (nearest.map { "; did you mean \"--\($0)\"?" } ?? ""))
  }
}
