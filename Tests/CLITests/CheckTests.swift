import Foundation
import TestSupport
import Testing

/// What can be told of an entry without a network, `check` tells as `run` would.
@Suite(.blocking) struct CheckTests {
  /// A URL, options, and the code that the entry would fail with; empty for none.
  private static let entries: [(url: String, options: [String], code: String)] = [
    ("https://h.example/a.png", [], ""), (" https://h.example/a.png ", [], ""),
    ("ftp://h.example/a.png", [], "scheme-not-allowed"), ("https://", [], "url-invalid"),
    ("https://h.example:99999/", [], "url-invalid"), ("", [], "url-invalid"),
    ("coffee.jpg", [], "scheme-not-allowed"), ("file:///coffee.jpg", [], "scheme-not-allowed"),
    ("coffee.jpg", ["--file-root", samples], ""), ("missing.jpg", ["--file-root", samples], "file-not-found"),
    ("../README.md", ["--file-root", samples], "address-not-allowed"),
    ("coffee.jpg", ["--file-root", samples, "--max-bytes", "1K"], "too-large"),
    ("http://127.0.0.1/", [], "address-not-allowed"), ("http://2130706433/", [], "address-not-allowed"),
    ("http://[::ffff:10.0.0.1]/", [], "address-not-allowed"), ("http://localhost/", [], "address-not-allowed"),
    ("http://127.0.0.1/", ["--allow-net", "127.0.0.0/8"], ""), ("http://localhost/", ["--allow-net", "::1"], ""),
    ("http://10.0.0.1/", ["--allow-net", "127.0.0.0/8"], "address-not-allowed"), ("http://1.1.1.1/", [], ""),
  ]
  private static let samples = packageRoot + "/Samples"

  @Test(arguments: entries)
  func `an entry that would fail is a warning, and no reason to end other than with 0`(
    url: String, options: [String], code: String
  ) throws {
    let folder = try TemporaryFolder()
    let manifest = try JSONSerialization.data(withJSONObject: ["https://h.example/fine.png", url])
    try manifest.write(to: URL(fileURLWithPath: folder.file("job.json")))
    let told = try DarkroomCommand.run(["check", "job.json"] + options, in: folder)
    #expect(told.status == 0 && told.error.isEmpty, "\(told.error)")
    #expect(told.output.hasPrefix("job.json: job job, 2 entries\n"))
    #expect(told.output.contains("\n    warning: would fail: \(code): ") == !code.isEmpty, "\(told.output)")
    #expect(told.output.hasSuffix("\n  warning: 1 of 2 entries would fail\n") == !code.isEmpty, "\(told.output)")

    let json = try DarkroomCommand.run(["check", "--json", "job.json"] + options, in: folder).expect(status: 0)
    let lines = try json.output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    #expect(lines.map(\.error?.code) == [nil, nil, code.isEmpty ? nil : code])
    #expect(lines.first?.state == "accepted")
  }

  @Test func `it tells the code that the run's report then has`() throws {
    let folders = try DarkroomFolders()
    let urls = Self.entries.map(\.url).filter { !$0.isEmpty && !$0.contains("example") && !$0.contains("1.1.1.1") }
    let options = ["--file-root", Self.samples, "--max-bytes", "150K"]
    try folders.drop("job.json", JSONSerialization.data(withJSONObject: urls))
    let check = try DarkroomCommand.run(["check", "--json", folders.inbox + "/job.json"] + options).output
    let foreseen = try check.split(separator: "\n").dropFirst().map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8)).error?.code
    }
    #expect(Set(foreseen).count > 3)
    #expect(try DarkroomProcess.run(["run", "--settle", "0"] + folders.named + options).status == 1)
    #expect(try folders.report("job").entries.map(\.error?.code) == foreseen)
  }

  @Test func `it takes the options of run, so that a command line can be checked as it is`() throws {
    let folder = try TemporaryFolder()
    try Data("[\"https://h.example/a.png\"]".utf8).write(to: URL(fileURLWithPath: folder.file("job.json")))
    let options = [
      "--metadata", "none", "--max-duration", "1h", "--prune", "--downloads", "3", "--filters", "blur(2px)",
    ]
    let check = try DarkroomCommand.run(["check", "job.json"] + options, in: folder).expect(status: 0)
    #expect(check.output.contains("  blur(2px)  "))
    let wrong = try DarkroomCommand.run(["check", "job.json", "--metadata", "some"], in: folder)
    #expect(wrong.status == 64 && wrong.error.contains("--metadata"))
    #expect(try DarkroomCommand.run(["check", "job.json", "--dry-run"], in: folder).status == 64)
    #expect(try !DarkroomCommand.run(["help", "check"]).output.contains("--max-duration DURATION"))
  }

  @Test func `a manifest that cannot be read keeps no other from being checked`() throws {
    let folder = try TemporaryFolder()
    try Data("[\"https://h.example/a.png\"]".utf8).write(to: URL(fileURLWithPath: folder.file("fine.json")))
    try Data("[7]".utf8).write(to: URL(fileURLWithPath: folder.file("wrong.json")))
    let missing = try DarkroomCommand.run(["check", "no.json", "folder.exe", "fine.json"], in: folder)
    #expect(missing.status == 66 && missing.output.hasPrefix("fine.json: job fine, 1 entry\n"))
    #expect(missing.error.contains("darkroom: no.json: ") && missing.error.contains("darkroom: folder.exe: "))
    let wrong = try DarkroomCommand.run(["check", "no.json", "wrong.json"], in: folder)
    #expect(wrong.status == 66 && wrong.output.hasPrefix("wrong.json: rejected"))
  }

  @Test(arguments: ["\u{1B}[31m", "\r", "\n  fake.png  none  ", "\u{9B}2J", "\u{202E}"])
  func `a URL can neither forge a line nor control the terminal`(text: String) throws {
    let folder = try TemporaryFolder()
    let entries: [String: Any] = [
      "a": "http://h.example/\(text).png", "b": ["url": ["http://h.example/\(text)", "http://m.example/\(text)"]],
    ]
    try JSONSerialization.data(withJSONObject: entries).write(to: URL(fileURLWithPath: folder.file("job.json")))
    try JSONSerialization.data(withJSONObject: ["source": "http://h.example/\(text).json"])
      .write(to: URL(fileURLWithPath: folder.file("list.json")))
    for file in ["job.json", "list.json"] {
      let output = try DarkroomCommand.run(["check", file], in: folder).output
      #expect(!output.contains(text) && output.contains("h.example/"), "\(output.debugDescription)")
    }
  }

  @Test func `long URLs are shortened, but not with --json`() throws {
    let folder = try TemporaryFolder()
    let long = String(repeating: "k", count: 100_000)
    let entries = [["url": ["http://h.example/\(long)", "file:\(long)"], "name": "a"]]
    try JSONSerialization.data(withJSONObject: entries).write(to: URL(fileURLWithPath: folder.file("job.json")))
    try folder.write(#"{"source": "file:\#(long)"}"#, as: "list.json")
    for file in ["job.json", "list.json"] {
      let text = try DarkroomCommand.run(["check", file], in: folder).expect(status: 0).output
      #expect(text.contains("kkk…") && text.utf8.count < 5000, "\(text.utf8.count) bytes")
      #expect(try DarkroomCommand.run(["check", "--json", file], in: folder).output.contains(long))
    }
  }

  private struct Line: Decodable {
    struct Failure: Decodable { let code: String }
    let state: String?
    let error: Failure?
  }

  @Test func `check works where the temporary folder is reached by a symbolic link`() throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("real")
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: folder.file("real"))
    let check = try DarkroomProcess.run(
      ["check", packageRoot + "/Samples/demo.plist"], environment: ["TMPDIR": folder.file("link")])
    #expect(check.status == 0 && check.output.contains("job demo"), "\(check.error)")
    #expect(try folder.names(in: "real").isEmpty)
  }

  @Test func `a temporary folder in which nothing can be created is an error that names TMPDIR`() throws {
    // Nobody may create anything there.
    let check = try DarkroomProcess.run(
      ["check", packageRoot + "/Samples/demo.plist"], environment: ["TMPDIR": "/proc/self/fdinfo"])
    #expect(check.status == 66 && check.error.contains("; set TMPDIR to a folder"), "\(check)")
  }

  @Test func `a folder that is missing is told once`() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(#"{"source": "file:nowhere/"}"#, as: "cats.json")
    let check = try DarkroomCommand.run(["check", "--file-root", folder.path, "cats.json"], in: folder)
    #expect(check.status == 65 && check.output.components(separatedBy: "file-not-found").count == 2, "\(check.output)")
  }

  @Test(arguments: [["check", "--json"], ["shard", "split", "--shards", "2"]], [SIGTERM, SIGKILL])
  func `a command that is ended leaves nothing among the temporary files`(words: [String], signal: Int32) throws {
    let folder = try TemporaryFolder()
    try folder.makeFolder("tmp")
    let entries = (0..<40_000).map { "{\"url\": \"http://h/\($0).jpg\", \"name\": \"picture \($0)\"}\n" }.joined()
    try folder.write(entries, as: "m.jsonl")
    let arguments = words + ["m.jsonl"] + (words[0] == "shard" ? ["shards"] : [])
    let process = try DarkroomProcess(arguments, in: folder, environment: ["TMPDIR": folder.file("tmp")])
    // The index is there, and has no name.
    let descriptors = "/proc/\(process.processID)/fd"
    func hasIndex() -> Bool {
      let links = (try? FileManager.default.contentsOfDirectory(atPath: descriptors)) ?? []
      return links.contains { link in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + "/" + link)
        return target?.contains("index.sqlite (deleted)") == true
      }
    }
    #expect(eventually(hasIndex, is: { $0 }))
    process.send(signal)
    #expect(try [signal, 128 + signal].contains(process.finish().status))
    #expect(try folder.names(in: "tmp").isEmpty)
  }
}
