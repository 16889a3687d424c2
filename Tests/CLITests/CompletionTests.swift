import Foundation
import TestSupport
import Testing

@testable import DarkroomCLI

/// The scripts that complete command lines, as text, and the names that they ask for; `Tests/Completions` tries them in their
/// shells.
@Suite struct CompletionTests {
  private func script(_ shell: Shell) throws -> String {
    let run = try DarkroomCommand.run(["help", "completion", shell.rawValue])
    #expect(run.status == 0 && run.error.isEmpty)
    return run.output
  }

  @Test(arguments: Shell.allCases)
  func `every command, option, choice and filter is in the script`(shell: Shell) throws {
    let words = Set(try script(shell).split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map(String.init))
    let dashes = shell == .fish ? "" : "--"
    let options = OptionTable.all.map(\.name) + OptionTable.informational.map(\.name)
    let choices = OptionTable.all.compactMap(\.valueName).flatMap { WordSyntax(usage: $0, isValue: true).choices }
    #expect(choices.count > 10)
    let filters = CompletionTable(commands: [], topics: []).filters
    let expected = CommandTable.all.map(\.name) + options.map { dashes + $0 } + choices + filters + Manual.names
    #expect(expected.filter { !words.contains($0) } == [])
  }

  @Test(arguments: [
    ("[MANIFEST…]", [], WordSyntax.Kind.files, true), ("FILE|URL…", [], .files, true), ("JOB", [], .jobs, false),
    ("keep|jpeg|png", ["keep", "jpeg", "png"], nil, false), ("N|auto", ["auto"], nil, false),
    ("known|N|N%", ["known"], nil, false), ("SECONDS", [], nil, false), ("on|off", ["on", "off"], nil, false),
  ])
  func `what a word may be follows from its usage`(
    usage: String, choices: [String], kind: WordSyntax.Kind?, isRepeated: Bool
  ) {
    let syntax = WordSyntax(usage: usage)
    #expect(syntax.choices == choices && syntax.kind == kind && syntax.isRepeated == isRepeated)
  }

  @Test func `the name that --name gives is none that there is`() {
    #expect(WordSyntax(usage: "JOB", isValue: true).kind == nil)
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

  private func names(
    _ command: String, _ options: [String] = [], in folder: TemporaryFolder, environment: [String: String] = [:]
  ) throws -> [String] {
    let run = try DarkroomCommand.run(["help", "complete", command] + options, in: folder, environment: environment)
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    return run.output.split(separator: "\n").map(String.init)
  }

  @Test func `jobs and locks are listed for the commands that are about them`() throws {
    let folder = try folders()
    for command in ["cancel", "wait"] { #expect(try names(command, in: folder) == ["b", "my cats", "stdin"]) }
    #expect(try names("retry", in: folder) == ["it's", "old cats"])
    #expect(try names("resume", in: folder) == ["a b", "lock", "pause"])
    #expect(try names("run", in: folder) == [])
    #expect(try names("unheard-of", in: folder) == [])
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
