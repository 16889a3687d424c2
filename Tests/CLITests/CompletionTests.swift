import Foundation
import Imaging
import TestSupport
import Testing

@testable import DarkroomCLI

/// What is completed, as values and as the program prints it for the shells' scripts; `Tests/Completions` tries these in their
/// shells.
@Suite struct CompletionTests {
  private func answer(_ words: String...) -> Completion.Answer {
    Completion(["darkroom"] + words, commands: CommandTable.groups, environment: [:]).answer
  }

  private func words(_ answer: Completion.Answer) -> [String] {
    switch answer {
    case .words(let candidates): candidates.map(\.word)
    case .files: ["files"]
    case .folders: ["folders"]
    }
  }

  @Test func `commands come first, with their summaries`() {
    let commands = CommandTable.all.map { Completion.Candidate(word: $0.name, summary: $0.summary) }
    #expect(answer("") == .words(commands))
    #expect(answer("--quiet", "--inbox", "a", "") == .words(commands))
    #expect(answer("unheard-of", "") == .words([]))
  }

  @Test(arguments: CommandTable.all.map(\.name))
  func `the options are those that the command takes and that are not given yet`(command: String) {
    let expected = OptionTable.all.filter { $0.isListed(for: command) }.map(\.longName) + ["--help", "--version"]
    func longOptions(_ answer: Completion.Answer) -> [String] { words(answer).filter { $0.hasPrefix("--") } }
    #expect(longOptions(answer(command, "--")) == expected)
    #expect(longOptions(answer(command, "--outbox=a", "--")) == expected.filter { $0 != "--outbox" })
  }

  @Test(arguments: [
    ("run", ["--filters", "--downloads", "--by-index", "--inbox"], ["--shards", "--partial", "--notify", "--prune"]),
    ("split", ["--shards", "--by", "--name", "--json"], ["--filters", "--by-index", "--gallery"]),
    ("merge", ["--partial", "--gallery", "--outbox"], ["--shards", "--filters"]),
    ("status", ["--claim-timeout", "--json"], ["--shards", "--filters"]),
  ])
  func `each action of shard has its own options`(action: String, taken: [String], others: [String]) {
    let words = Set(words(answer("shard", action, "--")))
    #expect(words.isSuperset(of: taken) && words.isDisjoint(with: others), "\(words)")
  }

  @Test(arguments: OptionTable.all.filter { $0.valueName == nil })
  func `an option without a value is turned on or off after a =`(option: DarkroomCLI.Option) {
    #expect(words(answer("run", option.longName + "=")) == ["on", "off"].map { option.longName + "=" + $0 })
    #expect(answer("run", option.longName, "") == .files)
  }

  @Test func `an option that may be given again is offered again`() {
    #expect(words(answer("run", "--allow-net", "::1", "--")).contains("--allow-net"))
  }

  @Test(arguments: OptionTable.all.filter { $0.valueName != nil })
  func `the value of an option is one of its choices`(option: DarkroomCLI.Option) {
    let choices = WordSyntax(usage: option.valueName ?? "").choices
    guard !choices.isEmpty else { return }
    #expect(words(answer("run", option.longName, "")) == choices)
    #expect(words(answer(option.longName + "=")) == choices.map { option.longName + "=" + $0 })
  }

  @Test func `files and folders are left to the shell`() {
    for files in [answer("run", ""), answer("add", "a", ""), answer("--config", ""), answer("--config=a")] {
      #expect(files == .files)
    }
    for folders in [answer("run", "--inbox", "a"), answer("--outbox=")] { #expect(folders == .folders) }
    #expect(answer("run", "--", "--inbox=") == .files)
  }

  @Test func `a recipe is continued by the functions that fit`() {
    #expect(words(answer("run", "--filters", "")).count == FilterRegistry.all.count)
    let functions = Set(words(answer("run", "--filters", "sepia(0.8) s")))
    #expect(functions == ["sepia(0.8) sepia(", "sepia(0.8) saturate(", "sepia(0.8) sharpen("])
    #expect(words(answer("run", "--filters=gra")) == ["--filters=grayscale(", "--filters=grayscale(..."])
  }

  @Test func `help is about commands and topics`() {
    #expect(words(answer("help", "")) == CommandTable.all.map(\.name) + HelpTopic.allCases.map(\.rawValue))
    #expect(words(answer("help", "man", "")) == Manual.names)
    #expect(words(answer("help", "run", "")) == [] && words(answer("help", "man", "darkroom", "")) == [])
  }

  @Test func `what cannot be completed, and the name that --name gives, have no candidates`() {
    for nothing in [answer("run", "--quality", ""), answer("run", "--name", ""), answer("pause", "a", "")] {
      #expect(nothing == .words([]))
    }
  }

  @Test(arguments: [
    ("[MANIFEST…]", [], WordSyntax.Kind.files, true), ("FILE|URL…", [], .files, true), ("JOB", [], .names, false),
    ("keep|jpeg|png", ["keep", "jpeg", "png"], nil, false), ("N|auto", ["auto"], nil, false),
    ("known|N|N%", ["known"], nil, false), ("SECONDS", [], nil, false), ("on|off", ["on", "off"], nil, false),
    ("420|444", ["420", "444"], nil, false),
  ])
  func `what a word may be follows from its usage`(
    usage: String, choices: [String], kind: WordSyntax.Kind?, isRepeated: Bool
  ) {
    let syntax = WordSyntax(usage: usage)
    #expect(syntax.choices == choices && syntax.kind == kind && syntax.isRepeated == isRepeated)
  }

  @Test(arguments: [
    ("a  b", Shell.bash, ["a", "b"]), ("a ", .bash, ["a", ""]), (#"a\ b"#, .zsh, ["a b"]),
    (#"'a\' b"#, .bash, [#"a\"#, "b"]), (#"'it\'s' b"#, .fish, ["it's", "b"]), (#""a\$\b" '"#, .bash, [#"a$\b"#, ""]),
    ("--a='b c", .zsh, ["--a=b c"]), ("a '' ", .bash, ["a", "", ""]), ("", .fish, [""]),
  ])
  func `a line is divided into words as the shell does it`(line: String, shell: Shell, words: [String]) {
    #expect(TypedLine(line, in: shell).words == words)
  }

  @Test(arguments: [
    ("da it", #"it\'s\ \$5"#), ("da 'it", #"it'\''s $5"#), (#"da "it"#, #"it's \$5"#), ("da i:t", #"\'s\ \$5"#),
  ])
  func `bash gets the part that readline replaces, quoted as what was typed`(line: String, replacement: String) {
    let typed = TypedLine(line, in: .bash, breaks: "=:")
    #expect(typed.replacement("it's $5", isOpen: false) == replacement)
  }

  @Test(arguments: [("da x", "x\\;\u{301}y"), ("da 'x", "x;\u{301}y")])
  func `what combines with a character does not keep it from being quoted`(line: String, replacement: String) {
    #expect(Array(TypedLine(line, in: .bash).replacement("x;\u{301}y", isOpen: false).utf8) == Array(replacement.utf8))
  }

  @Test(arguments: [
    ("da sep", "'sepia("), ("da 'sep", "sepia("), (#"da "sep"#, "sepia("), ("da --filters=sep", "'sepia("),
  ])
  func `bash opens quotes for a recipe`(line: String, replacement: String) {
    let typed = TypedLine(line, in: .bash, breaks: "=:")
    let word = line.contains("=") ? "--filters=sepia(" : "sepia("
    #expect(typed.replacement(word, isOpen: true) == replacement)
  }

  /// Folders with jobs that have ended and that have not, and with locks.
  private func folders() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    for path in ["inbox/folder", "outbox/old cats", "outbox/it's", "outbox/without a report", "outbox/.darkroom"] {
      try FileManager.default.createDirectory(atPath: folder.file(path), withIntermediateDirectories: true)
    }
    for path in [
      "inbox/my cats.json", "inbox/b.csv.gz", "inbox/pause.lock", "inbox/a b.LOCK", "inbox/lock", "inbox/README.md",
      "outbox/old cats/report.json", "outbox/it's/report.json", "outbox/index.html", "outbox/.darkroom/report.json",
    ] {
      try Data().write(to: URL(fileURLWithPath: folder.file(path)))
    }
    let status = #"""
      {"schema_version": 1, "version": "0", "inbox": "inbox", "outbox": "outbox", "running": false, "pauses": [],
       "jobs": [{"job": "stdin", "run_id": "1", "state": "waiting"}], "queued": [], "queued_total": 0,
       "ignored": [], "ignored_total": 0}
      """#
    try status.write(toFile: folder.file("outbox/.darkroom/status.json"), atomically: false, encoding: .utf8)
    return folder
  }

  /// The lines that the program prints for fish: what is completed, and the candidates.
  private func lines(
    _ line: String, in folder: TemporaryFolder, environment: [String: String] = [:]
  ) throws -> [String] {
    let run = try DarkroomCommand.run(
      [Completion.command, "fish", "darkroom " + line], in: folder, environment: environment)
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    return run.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
  }

  private func names(
    _ command: String, _ options: [String] = [], in folder: TemporaryFolder, environment: [String: String] = [:]
  ) throws -> [String] {
    let line = ([command] + options + [""]).joined(separator: " ")
    return Array(try lines(line, in: folder, environment: environment).dropFirst())
  }

  @Test func `jobs and locks are listed for the commands that are about them`() throws {
    let folder = try folders()
    for command in ["cancel", "wait"] { #expect(try names(command, in: folder) == ["b", "my cats", "stdin"]) }
    #expect(try names("retry", in: folder) == ["it's", "old cats"])
    #expect(try names("resume", in: folder) == ["a b", "lock", "pause"])
    #expect(try lines("run ", in: folder) == ["files"])
    #expect(try names("unheard-of", in: folder) == [])
  }

  @Test func `a name that begins with a dash is offered after two dashes only`() throws {
    let folder = try folders()
    try Data().write(to: URL(fileURLWithPath: folder.file("inbox/-x.json")))
    #expect(try names("cancel", in: folder) == ["b", "my cats", "stdin"])
    #expect(try names("cancel", ["--"], in: folder) == ["-x", "b", "my cats", "stdin"])
  }

  @Test func `the command line, the environment and the configuration file tell in which folders`() throws {
    let folder = try folders()
    let other = try TemporaryFolder()
    let (inbox, outbox) = (folder.file("inbox"), folder.file("outbox"))
    #expect(try names("retry", ["--outbox=" + outbox, "--inbox=" + inbox], in: other).count == 2)
    #expect(try names("retry", in: other, environment: ["DARKROOM_OUTBOX": outbox]).count == 2)
    let config = try JSONSerialization.data(withJSONObject: ["inbox": inbox, "outbox": outbox])
    try config.write(to: URL(fileURLWithPath: other.file("config.json")))
    #expect(try names("cancel", ["--config", "config.json"], in: other).count == 3)
  }

  @Test func `without folders, or with wrong settings, there are no names, no errors and no new files`() throws {
    let folder = try TemporaryFolder()
    for command in ["cancel", "wait", "retry", "resume"] {
      #expect(try names(command, in: folder) == [])
      #expect(try names(command, ["--inbox=/proc/nowhere"], in: folder) == [])
      #expect(try names(command, in: folder, environment: ["DARKROOM_JOBS": "many"]) == [])
      #expect(try names(command, ["--config=missing.json"], in: folder) == [])
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
  }
}
