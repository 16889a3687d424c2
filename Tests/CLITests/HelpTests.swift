import Foundation
import TestSupport
import Testing

/// The help, compared with the files in `Snapshots`. `DARKROOM_TEST_RECORD=1 script/test --filter HelpTests` writes them.
@Suite(.blocking) struct HelpTests {
  static let commands = [
    "run", "watch", "status", "add", "wait", "cancel", "retry", "pause", "resume", "check", "filters", "shard",
    "doctor", "gc",
    "help",
  ]
  static let texts = [["help"]] + commands.map { ["help", $0] }

  @Test(arguments: texts)
  func `the help is that of the snapshot, and fits 80 columns`(words: [String]) throws {
    let help = try DarkroomCommand.run(words, in: TemporaryFolder())
    #expect(help.status == 0 && help.error.isEmpty)
    #expect(help.output.split(separator: "\n").filter { $0.count > 80 } == [])
    let snapshot = packageRoot + "/Tests/CLITests/Snapshots/" + words.joined(separator: "-") + ".txt"
    try expectRecorded(help.output, at: snapshot)
  }

  @Test(arguments: ["manifest", "report"])
  func `the help about files fits 80 columns`(topic: String) throws {
    let help = try DarkroomCommand.run(["help", topic])
    #expect(help.status == 0 && help.error.isEmpty && help.output.count > 5000)
    #expect(help.output.split(separator: "\n").filter { $0.count > 80 } == [])
  }

  @Test(arguments: commands)
  func `--help says what help COMMAND says`(command: String) throws {
    #expect(
      try DarkroomCommand.run([command, "--help"]).output == DarkroomCommand.run(["help", command]).output)
  }

  @Test func `the help lists every command`() throws {
    let help = try DarkroomCommand.run(["help"]).output
    let list = try #require(help.firstMatch(of: /\nThe commands[^\n]*\n(.*?)\noptions of all/.dotMatchesNewlines()))
    #expect(list.1.matches(of: /(?:^|\n)  ([a-z]+)/).map { String($0.1) } == Self.commands)
  }

  @Test(arguments: texts)
  func `usage and examples come first`(words: [String]) throws {
    let help = try DarkroomCommand.run(words).output
    let headings = help.split(separator: "\n\n").filter { !$0.hasPrefix("darkroom: ") }
    #expect(headings[0].hasPrefix("usage: darkroom "))
    #expect(headings[1].hasPrefix("examples:\n  darkroom "))
  }

  @Test func `help names the nearest command, topic, page or shell`() throws {
    for (words, nearest) in [
      (["manifst"], "manifest"), (["stauts"], "status"), (["man", "darkroom-reprot"], "darkroom-report"),
      (["completion", "bahs"], "bash"),
    ] {
      let help = try DarkroomCommand.run(["help"] + words)
      #expect(help.status == 64 && help.error.contains("did you mean \"\(nearest)\"?"), "\(help.error)")
    }
    #expect(try DarkroomCommand.run(["help", "man", "darkroom", "run"]).status == 64)
    #expect(try DarkroomCommand.run(["help", "report", "run"]).status == 64)
  }

  /// The words that the values of a key may be, according to a schema.
  private func words(of key: String, in schema: String) throws -> Set<String> {
    let text = try Documentation.text("Documentation/\(schema).schema.json")
    let lists = text.components(separatedBy: "\"\(key)\": { \"enum\": [").dropFirst().map { $0.prefix { $0 != "]" } }
    #expect(!lists.isEmpty, "\(schema): \(key)")
    return Set(lists.flatMap { $0.matches(of: /"([^"]+)"/).map { String($0.1) } })
  }

  private func expect(_ words: some Sequence<String>, inHelpOf command: String) throws {
    let help = try DarkroomCommand.run(["help", command]).output
    let all = Set(help.split { !$0.isLetter && $0 != "-" }.map(String.init))
    #expect(words.filter { !all.contains($0) } == [], "\(command)")
  }

  @Test func `the help tells the fields of entries, the states of jobs and reports, and why queues pause`() throws {
    let page = try Documentation.text("Documentation/manifests.md")
    let table = try #require(page.firstMatch(of: /\n## Fields\n\n\| field .*?\n\n/.dotMatchesNewlines())).output
    let fields = table.matches(of: /\n\| `([a-z]+)`/).map { String($0.1) }
    #expect(fields.count > 12)
    try expect(fields + ["source"], inHelpOf: "check")
    let states = try words(of: "state", in: "events")
    try expect(states.union(["dependency-failed", "source-failed"]), inHelpOf: "run")
    // Those of jobs that have not ended, and those of reports.
    let jobs = try words(of: "state", in: "status").subtracting(states)
    #expect(jobs.contains("fetching"))
    try expect(jobs.union(words(of: "cause", in: "status")), inHelpOf: "status")
    try expect(["dependency-failed", "cancelled"], inHelpOf: "retry")
  }

  /// All options of the help and the commands whose help lists them.
  static func options() throws -> [String: Set<String>] {
    var found: [String: Set<String>] = [:]
    for command in commands {
      let help = try DarkroomCommand.run(["help", command]).output
      for match in help.matches(of: /\n  (?:-[a-z], )?--([a-z-]+)/) {
        found[String(match.1), default: []].insert(command)
      }
    }
    return found
  }

  @Test func `an option that a command does not use is refused, and the commands that take it are named`() throws {
    let options = try Self.options()
    #expect(options.count > 25)
    let folder = try TemporaryFolder()
    let flags: Set = [
      "json", "refresh", "all", "keep-originals", "prune", "watch", "fail-empty", "dry-run", "by-index", "partial",
    ]
    for (option, takers) in options where !["help", "version"].contains(option) {
      guard let other = Self.commands.first(where: { !takers.contains($0) }) else { continue }
      let value = try DarkroomCommand.run(
        [other, "--" + option + (flags.contains(option) ? "" : "=1")], in: folder
      ).error
      #expect(value.contains("--\(option) is for the command"), "\(other) --\(option): \(value)")
      for taker in takers { #expect(value.contains(taker), "\(value)") }
    }
  }

  @Test(arguments: commands)
  func `the examples of the help work as they stand`(command: String) throws {
    let help = try DarkroomCommand.run(["help", command]).output
    let examples = try #require(help.firstMatch(of: /\nexamples:\n(.*?)\n\n/.dotMatchesNewlines())).1
      .split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    #expect((1...4).contains(examples.count))
    for example in examples {
      let folder = try TemporaryFolder()
      try #"{"cat": "chelsea.jpg"}"#.write(toFile: folder.file("cats.json"), atomically: false, encoding: .utf8)
      try "{}".write(toFile: folder.file("darkroom.json"), atomically: false, encoding: .utf8)
      for name in ["inbox", "outbox"] {
        try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: false)
      }
      let environment = ["DARKROOM_FILE_ROOT": packageRoot + "/Samples", "DARKROOM_POLL_INTERVAL": "0.05"]
      switch command {
      case "watch":
        let watch = try DarkroomProcess(script: "exec " + example + " --verbose", in: folder, environment: environment)
        #expect(try watch.waitForLine(containing: "watching") != nil)
        try watch.stop()
      case "wait", "retry":
        if command == "retry" {
          let done = folder.file("outbox/cats")
          try FileManager.default.createDirectory(atPath: done, withIntermediateDirectories: false)
          try FileManager.default.copyItem(atPath: folder.file("cats.json"), toPath: done + "/manifest.json")
        }
        let watch = try DarkroomProcess(["watch", "--verbose"], in: folder, environment: environment)
        #expect(try watch.waitForLine(containing: "watching") != nil)
        #expect(try DarkroomProcess.run(script: example, in: folder, environment: environment).status == 0)
        try watch.stop()
      case "shard" where !example.contains("split"):
        let before =
          "darkroom shard split --shards 2 cats.json shards\n"
          + (example.contains("merge") ? "darkroom shard run shards\n" : "")
        let run = try DarkroomProcess.run(script: before + example, in: folder, environment: environment)
        #expect(run.status == 0, "\(example): \(run.error)")
      case "cancel":
        try FileManager.default.copyItem(atPath: folder.file("cats.json"), toPath: folder.file("inbox/cats.json"))
        let run = try DarkroomProcess.run(script: example, in: folder, environment: environment)
        #expect(run.status == 0, "\(example): \(run.error)")
      default:
        let run = try DarkroomProcess.run(script: example, in: folder, environment: environment)
        #expect(run.status == 0, "\(example): \(run.error)")
      }
    }
  }
}
