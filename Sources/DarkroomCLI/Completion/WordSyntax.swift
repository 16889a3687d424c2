/// What a word of a command line may be, as its usage says it, as far as it can be completed: `keep|jpeg|png` is one of three
/// words, `N|auto` a number or `auto`, `[MANIFEST…]` any number of files.
struct WordSyntax: Equatable {
  /// What is looked up where the shell runs. Names are those of jobs or locks.
  enum Kind { case files, folders, names, recipe, topics }

  /// The words in lower case.
  let choices: [String]

  /// nil for what cannot be completed, such as a number.
  let kind: Kind?

  /// Whether more of them may follow.
  let isRepeated: Bool

  /// What the words in capitals stand for. Others cannot be completed.
  private static let kinds: [Substring: Kind] = [
    "FILE": .files, "MANIFEST": .files, "PROGRAM": .files, "DIR": .folders, "JOB": .names, "NAME": .names,
    "RECIPE": .recipe, "COMMAND": .topics,
  ]

  init(usage: String) {
    isRepeated = usage.contains("…")
    let words = usage.filter { !"[]… ".contains($0) }.split(separator: "|")
    choices = words.filter { $0.first?.isLowercase ?? false }.map(String.init)
    kind = words.lazy.compactMap { Self.kinds[$0] }.first
  }
}
