import DarkroomCLI
import Foundation
import TestSupport
import Testing

/// The forms of the log on standard error.
@Suite(.blocking) struct LogTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private static let list = "coffee.jpg\nmissing=1 \"2\".jpg\n"

  private func lines(_ options: [String]) throws -> [String] {
    try folders.drop("cats.txt", Self.list)
    try folders.drop("bad.json", "{\"x\": 1}")
    let error = try folders.run(options + ["-v"]).expect(status: 65).error
    return error.split(separator: "\n").map(String.init)
  }

  @Test func `each line of the log is a JSON object with time, level and message`() throws {
    let objects = try lines(["--log-format", "json"]).map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String], "\(line)")
    }
    for object in objects {
      #expect(object["time"]?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
      #expect(["error", "warning", "info", "debug"].contains(object["level"]))
      #expect(object["message"]?.isEmpty == false)
    }
    let failure = try #require(objects.first { $0["code"] != nil })
    #expect(failure["event"] == "entry-ended" && failure["job"] == "cats" && failure["level"] == "warning")
    #expect(failure["code"] == "file-not-found" && failure["entry"] == "missing=1 _2_")
    let rejected = try #require(objects.first { $0["level"] == "error" })
    #expect(rejected["event"] == "job-ended" && rejected["job"] == "bad")
    #expect(rejected["message"]?.hasPrefix("rejected: ") == true)
    #expect(objects.contains { $0["level"] == "debug" && $0["entry"] == "coffee" })
  }

  @Test func `each line of the log is key=value pairs, quoted where they need it`() throws {
    let lines = try lines(["--log-format", "logfmt"])
    for line in lines {
      #expect(
        line.wholeMatch(of: /time=\S+ level=(error|warning|info|debug)( [a-z]+=("([^"\\]|\\.)*"|[^\s"=]+))+/) != nil,
        "\(line)")
    }
    #expect(lines.contains { $0.contains(" job=cats entry=\"missing=1 _2_\" code=file-not-found message=\"") })
  }

  @Test func `the log shortens a long URL`() throws {
    try folders.drop("list.json", #"{"source": "http://127.0.0.1:1/\#(String(repeating: "k", count: 100_000))"}"#)
    let error = try folders.run().expect(status: 65).error
    #expect(
      error.contains("its entries are listed by http://127.0.0.1:1/kkk") && error.utf8.count < 10_000,
      "\(error.utf8.count)")
  }

  @Test func `what ends the program is in the same form as the rest`() throws {
    let error = try folders.run(["--log-format", "json", "missing.json"]).expect(status: 66).error
    let object = try #require(try JSONSerialization.jsonObject(with: Data(error.utf8)) as? [String: String])
    #expect(object["level"] == "error" && object["message"]?.contains("missing.json") == true)
  }

  @Test(arguments: [
    (["--log-format=json"], [:]), (["--log-format", "json"], [:]), ([], ["DARKROOM_LOG_FORMAT": "json"]),
  ])
  func `a command line that cannot be understood is told in the same form, too`(
    words: [String], environment: [String: String]
  ) throws {
    let error = try DarkroomProcess.run(["run", "--downlods", "1"] + words, environment: environment)
      .expect(status: 64).error.prefix { $0 != "\n" }
    let object = try #require(try JSONSerialization.jsonObject(with: Data(error.utf8)) as? [String: String])
    #expect(object["level"] == "error" && object["message"]?.contains("--downloads") == true)
  }

  @Test func `a file that check cannot read is an error in systemd's journal`() throws {
    let script = """
      exec 2>log
      JOURNAL_STREAM=$(stat -Lc %d:%i /dev/stderr) darkroom check missing.json
      """
    _ = try DarkroomProcess.run(script: script, in: folders.folder).expect(status: 66)
    #expect(try String(contentsOfFile: folders.folder.file("log"), encoding: .utf8).hasPrefix("<3>"))
  }

  static let withoutLog = [
    ["add", "nosuch.txt"], ["wait", "../a"], ["cancel"], ["status", "--bogus"], ["check", "nosuch.txt"],
    ["shard", "split", "nosuch.txt", "shards", "--shards", "2"], ["rnu"], [],
  ]

  @Test(arguments: withoutLog)
  func `what commands without a log say is text, whatever the environment says`(words: [String]) throws {
    let config = try folders.folder.write(#"{"log-format": "json"}"#, as: "config.json")
    for environment in [["DARKROOM_LOG_FORMAT": "json"], ["DARKROOM_CONFIG": config]] {
      let run = try DarkroomCommand.run(words, in: folders.folder, environment: environment)
      #expect(run.status != 0 && run.error.hasPrefix("darkroom: "), "\(run.error)")
    }
  }

  @Test(arguments: [
    ["run", "nosuch.txt"], ["--inbox", "add", "watch", "x"], ["doctor", "x"], ["shard", "run", "nosuch"],
  ])
  func `what commands with a log say is in the form that the environment names`(words: [String]) throws {
    let run = try DarkroomCommand.run(words, in: folders.folder, environment: ["DARKROOM_LOG_FORMAT": "json"])
    #expect(run.status != 0 && run.error.hasPrefix("{"), "\(run.error)")
  }

  @Test func `systemd's journal gets priorities, and no times of its own`() throws {
    try folders.drop("cats.txt", Self.list)
    let script = """
      exec 2>log
      export JOURNAL_STREAM=$(stat -Lc %d:%i /dev/stderr)
      darkroom run -v --settle 0 --file-root \(packageRoot)/Samples || darkroom run missing.json || true
      """
    _ = try DarkroomProcess.run(script: script, in: folders.folder).expect(status: 0)
    let log = try String(contentsOfFile: folders.folder.file("log"), encoding: .utf8)
    let lines = log.split(separator: "\n")
    #expect(lines.allSatisfy { $0.wholeMatch(of: /<[3467]>[^<].*/) != nil }, "\(log)")
    #expect(lines.contains { $0.hasPrefix("<4>cats: missing=1 _2_: file-not-found: ") })
    #expect(lines.contains("<7>cats: coffee: filtered"))
    #expect(lines.contains { $0.hasPrefix("<3>") && $0.contains("missing.json") })
    #expect(!log.contains(/\d\d:\d\d:\d\dZ/))
  }

  @Test func `a stream that is not the journal's has no priorities`() throws {
    try folders.drop("cats.txt", Self.list)
    let script = "JOURNAL_STREAM=1:2 darkroom run --settle 0 --file-root \(packageRoot)/Samples 2>log || true"
    _ = try DarkroomProcess.run(script: script, in: folders.folder).expect(status: 0)
    let log = try String(contentsOfFile: folders.folder.file("log"), encoding: .utf8)
    #expect(log.split(separator: "\n").allSatisfy { $0.wholeMatch(of: /\d{4}-\S+Z .*/) != nil }, "\(log)")
  }
}
