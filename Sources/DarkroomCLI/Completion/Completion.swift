import Darkroom
import Imaging
import System

/// The candidates for the word at the cursor of a command line. The shells' scripts ask the program (`darkroom __complete`), so
/// that an installed script never disagrees with it.
struct Completion {
  struct Candidate: Equatable {
    let word: String
    /// Empty for words that need no explanation.
    var summary = ""
    /// Whether the word continues after the candidate.
    var isOpen = false
  }

  enum Answer: Equatable {
    /// Names that the shell completes.
    case files, folders
    case words([Candidate])
  }

  /// The option with `=`, when its value is attached to it; else empty.
  let optionPrefix: String

  /// The word at the cursor, up to the cursor.
  let current: String

  private let commands: [any Command]
  private let environment: [String: String]
  /// The option whose value is at the cursor; that of a flag follows after a `=` only.
  private var valued: Option?
  /// The command, and its operands before the cursor.
  private var operands: [String] = []
  private var given: Set<String> = []
  /// The options that name folders, as words.
  private var folderOptions: [String] = []
  private var areOptionsEnded = false

  /// - Parameter words: The words up to the cursor, including the program's name.
  init(_ words: [String], commands: [CommandGroup], environment: [String: String]) {
    self.commands = commands.flatMap(\.commands)
    self.environment = environment
    current = words.last ?? ""
    var rest = words.dropFirst().dropLast()
    while let word = rest.popFirst() {
      if areOptionsEnded || word == "-" || !word.begins(with: "-") {
        operands.append(word)
      } else if word == "--" {
        areOptionsEnded = true
      } else if let (option, attached) = Self.option(in: word) {
        given.insert(option.name)
        guard option.valueName != nil else { continue }
        guard let value = attached ?? rest.popFirst() else {
          valued = option
          break
        }
        guard option.isPath, option.commands == nil else { continue }
        let home = attached == nil && value.begins(with: "~/") ? environment["HOME"] : nil
        folderOptions.append(option.longName + "=" + (home.map { $0 + value.dropping(bytesOf: "~") } ?? value))
      }
    }
    if valued == nil, !areOptionsEnded, case (let option, let value?)? = Self.option(in: current) {
      valued = option
      optionPrefix = current.dropping(bytesOfSuffix: value)
    } else {
      optionPrefix = ""
    }
  }

  /// The option that a word names, and the value that is attached to it.
  private static func option(in word: String) -> (Option, value: String?)? {
    guard word.begins(with: "--") else { return nil }
    let parts = word.dropping(bytesOf: "--").fields("=", most: 2, omittingEmpty: false)
    return OptionTable.option(named: parts[0]).map { ($0, parts.count == 2 ? parts[1] : nil) }
  }

  var answer: Answer {
    if let valued { return answer(WordSyntax(usage: valued.valueName ?? "on|off")) }
    if current.begins(with: "-"), !areOptionsEnded { return .words(options) }
    guard let name = operands.first else { return .words(commandNames) }
    guard let command = commands.first(where: { $0.name == name }) else { return .words([]) }
    if command.operands.isEmpty { return .words(options) }
    let words = command.operands.fields(" ")
    let syntax = WordSyntax(usage: words[min(operands.count, words.count) - 1])
    return syntax.isRepeated || syntax.kind == .topics || operands.count <= words.count ? answer(syntax) : .words([])
  }

  private func answer(_ syntax: WordSyntax) -> Answer {
    switch syntax.kind {
    case .files: .files
    case .folders: .folders
    case .recipe: .words(recipes)
    case .names: .words(names.map { Candidate(word: $0) })
    case .topics: .words(helpTopics)
    case nil: .words(syntax.choices.map { Candidate(word: optionPrefix + $0) })
    }
  }

  private var commandNames: [Candidate] { commands.map { Candidate(word: $0.name, summary: $0.summary) } }

  /// The options of the command, or all of them; without those that are given already and cannot be repeated.
  private var options: [Candidate] {
    let command = operands.first ?? ""
    let action = command == "shard" ? operands.dropFirst().first : nil
    let taken = OptionTable.all.filter { option in
      let isListed = action.flatMap { ShardCommand.isListed(option, for: $0) } ?? option.isListed(for: command)
      return isListed && (option.isRepeatable || !given.contains(option.name))
    }
    let all = taken.map { (letter: $0.letter, name: $0.name, summary: $0.summary) } + OptionTable.informational
    return all.flatMap { letter, name, summary in
      ((letter.map { ["-\($0)"] } ?? []) + ["--" + name]).map { Candidate(word: $0, summary: summary) }
    }
  }

  private var helpTopics: [Candidate] {
    switch operands.count {
    case 1: commandNames + HelpTopic.allCases.map { Candidate(word: $0.rawValue) }
    case 2: (HelpTopic(rawValue: operands[1])?.operands ?? []).map { Candidate(word: $0) }
    default: []
    }
  }

  /// The recipe so far, with each function that fits.
  private var recipes: [Candidate] {
    let typed = current.dropFirst(optionPrefix.count)
    let end = typed.lastIndex(of: " ").map(typed.index(after:)) ?? typed.startIndex
    let found = FilterRegistry.all.filter { $0.name.hasPrefix(typed[end...]) }.map { filter in
      Candidate(word: optionPrefix + typed[..<end] + filter.name + "(", summary: filter.summary, isOpen: true)
    }
    // Shells would close the quote, or add a blank, after a single candidate.
    return found.count == 1 ? found + found.map { Candidate(word: $0.word + "...", isOpen: true) } : found
  }

  /// The jobs or locks that the command takes, in the folders that the command line, the environment or the configuration file
  /// name; none when the settings are invalid, and for the value of `--name`.
  private var names: [String] {
    guard valued == nil,
      let settings = try? Settings(Arguments(folderOptions), environment: environment, isOnlyLooking: true)
    else { return [] }
    let known = KnownNames(inbox: settings.inbox.path, outbox: settings.outbox.path)
    let names =
      switch operands.first {
      case "cancel", "wait": known.openJobs
      case "retry": known.endedJobs
      case "resume": known.locks
      default: [String]()
      }
    // Before two dashes it would be taken for an option.
    return areOptionsEnded ? names : names.filter { !$0.begins(with: "-") }
  }
}

/// The values that the usage of a word allows, as far as they can be completed: `keep|jpeg|png` is one of three words, `N|auto`
/// a number or `auto`, `[MANIFEST…]` any number of files.
struct WordSyntax: Equatable {
  /// What is completed by looking it up. Names are those of jobs or locks.
  enum Kind { case files, folders, names, recipe, topics }

  /// The words in lower case, and numbers.
  let choices: [String]

  /// nil for values that cannot be completed, such as numbers.
  let kind: Kind?

  /// Whether the word may be repeated.
  let isRepeated: Bool

  /// The meanings of words in capitals. Others cannot be completed.
  private static let kinds: [Substring: Kind] = [
    "FILE": .files, "MANIFEST": .files, "PROGRAM": .files, "DIR": .folders, "JOB": .names, "NAME": .names,
    "RECIPE": .recipe, "COMMAND": .topics,
  ]

  init(usage: String) {
    isRepeated = usage.contains("…")
    let words = usage.filter { !"[]… ".contains($0) }.split(separator: "|")
    choices = words.filter { $0.first.map { $0.isLowercase || $0.isNumber } ?? false }.map(String.init)
    kind = words.lazy.compactMap { Self.kinds[$0] }.first
  }
}
