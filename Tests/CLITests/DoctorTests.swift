import Foundation
import TestSupport
import Testing

/// What `doctor` finds.
@Suite(.blocking) struct DoctorTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  private struct Line: Decodable {
    let level: String
    let subject: String
    let message: String
    let remedy: String?
  }

  private func doctor(_ more: [String] = [], _ environment: [String: String] = [:], status: Int32) throws -> [Line] {
    let finished = try DarkroomProcess.run(
      ["doctor", "--json"] + folders.named + more, in: folders.folder, environment: environment)
    return try finished.expect(status: status).output.split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
  }

  private func files() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: folders.folder.path) }

  @Test func `a new installation passes, and nothing is left behind`() throws {
    let before = try files()
    let lines = try doctor(status: 0)
    #expect(try files() == before)
    #expect(!lines.contains { $0.level == "failed" })
    for subject in ["version", "libraries", "inbox", "outbox", "space", "instance", "memory", "descriptors", "clock"] {
      #expect(lines.contains { $0.subject == subject }, "\(subject)")
    }
    let libraries = try #require(lines.first { $0.subject == "libraries" }?.message)
    for name in ["libcurl", "OpenSSL", "libjpeg-turbo", "libpng", "libwebp", "lcms2", "sqlite"] {
      #expect(libraries.contains(try Regex("\(name) [1-9]\\d*\\.\\d+")), "\(libraries)")
    }
  }

  @Test(.enabled(if: !Sanitizer.isAny, "programs with a sanitizer are not confined"))
  func `workers are confined here as they are for pictures`() throws {
    let isolation = try #require(try doctor(status: 0).first { $0.subject == "isolation" })
    #expect(isolation.message.contains("seccomp") && isolation.level != "failed")
    let none = try #require(try doctor(["--isolation", "none"], status: 0).first { $0.subject == "isolation" })
    #expect(none.level == "warning" && none.remedy != nil)
  }

  @Test func `it works beside an instance, and names it`() throws {
    let watch = try folders.watch()
    let lines = try doctor(status: 0)
    #expect(lines.contains { $0.subject == "instance" && $0.message.contains("process \(watch.processID) ") })
    try watch.stop()
  }

  @Test func `a ledger of a newer version has failed, and any other has not`() throws {
    #expect(try !doctor(status: 0).contains { $0.subject == "ledger" })
    try folders.drop("job.txt", "coffee.jpg\n")
    try folders.run(["--filters", "none"]).expect(status: 0)
    #expect(try doctor(status: 0).first { $0.subject == "ledger" }?.message.hasSuffix(": 0 open jobs") == true)
    _ = try AlteredLedger.read(folders, "PRAGMA user_version = 1000")
    let newer = try #require(try doctor(status: 1).first { $0.subject == "ledger" })
    #expect(newer.level == "failed" && newer.message.contains("version 1000") && newer.remedy != nil, "\(newer)")
  }

  @Test func `folders that the first start creates are no failure`() throws {
    let empty = try TemporaryFolder()
    let finished = try DarkroomProcess.run(["doctor"], in: empty).expect(status: 0)
    #expect(finished.output.contains("does not exist yet"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: empty.path).isEmpty)
  }

  @Test(arguments: [false, true])
  func `an outbox that is not mounted has failed, as a start there does`(hasMountPoint: Bool) throws {
    let home = try TemporaryFolder()
    func darkroom(_ command: String) throws -> DarkroomProcess.Finished { try DarkroomProcess.run([command], in: home) }
    for name in ["inbox", "outbox"] { try home.makeFolder(name) }
    try home.write("", as: "inbox/job.txt")
    _ = try darkroom("run")
    try darkroom("doctor").expect(status: 0)
    try FileManager.default.moveItem(atPath: home.file("outbox"), toPath: home.file("away"))
    if hasMountPoint { try home.makeFolder("outbox") }
    let found = try darkroom("doctor").expect(status: 1)
    let expected = #/failed +outbox .*: the outbox that was used with this inbox is not here\n +→ mount it/#
    #expect(found.output.contains(expected))
    #expect(FileManager.default.fileExists(atPath: home.file("outbox")) == hasMountPoint)
    try darkroom("run").expect(status: 73)
    for words in [["retry", "job"], ["wait", "job", "--timeout", "0.1"]] {
      let told = try DarkroomProcess.run(words, in: home).error
      #expect(told.contains("the outbox that was used with this inbox is not here. Is the outbox mounted?"), "\(told)")
    }
    try DarkroomProcess.run(["doctor", "--create"], in: home).expect(status: 0)
  }

  @Test func `a named folder that is missing has failed, with a remedy`() throws {
    let finished = try DarkroomProcess.run(["doctor", "--inbox", "nowhere"], in: folders.folder).expect(status: 1)
    #expect(finished.output.contains(#/failed +options +--inbox: .*nowhere.*\n +→ /#))
  }

  @Test(
    .enabled(if: ImmutableFolder.obstacle == nil, "\(ImmutableFolder.obstacle ?? "")"), arguments: ["inbox", "outbox"])
  func `a folder that cannot be written has failed, with the user's id`(subject: String) throws {
    let immutable = try ImmutableFolder(subject == "inbox" ? folders.inbox : folders.outbox)
    defer { immutable.release() }
    let found = try #require(try doctor(status: 1).first { $0.subject == subject })
    #expect(found.level == "failed" && found.remedy?.contains("uid \(geteuid())") == true)
  }

  @Test(
    .enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")"), arguments: ["inbox", "outbox"])
  func `a file system that is mounted read-only has failed, whoever calls it`(subject: String) throws {
    let disk = try SmallDisk(
      over: subject == "inbox" ? folders.inbox : folders.outbox, in: folders.folder, kilobytes: 64)
    try disk.makeReadOnly()
    let found = try #require(try doctor(["--min-free", "0"], status: 1).first { $0.subject == subject })
    #expect(found.level == "failed" && found.remedy?.contains("mount it for writing") == true, "\(found)")
  }

  @Test(.enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")"))
  func `an inbox without space is named as it is`() throws {
    let disk = try SmallDisk(over: folders.inbox, in: folders.folder, kilobytes: 8)
    defer { withExtendedLifetime(disk) {} }
    let list = try folders.folder.write(String(repeating: "http://h.example/a.jpg\n", count: 2000), as: "list.txt")
    let told = try DarkroomCommand.run(["add", "--inbox", folders.inbox, list]).error
    #expect(told.hasPrefix("darkroom: \(folders.inbox): No space left on device"), "\(told)")
  }

  @Test(.enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")"))
  func `staging on another file system than the outbox has failed`() throws {
    let hidden = folders.outbox + "/.darkroom"
    try FileManager.default.createDirectory(atPath: hidden, withIntermediateDirectories: true)
    let disk = try SmallDisk(over: hidden, in: folders.folder, kilobytes: 64)
    defer { withExtendedLifetime(disk) {} }
    let found = try #require(try doctor(["--min-free", "0"], status: 1).first { $0.subject == "staging" })
    #expect(found.level == "failed" && found.message.contains("different file systems"))
  }

  @Test func `less free space than --min-free has failed`() throws {
    let found = try #require(try doctor(["--min-free", "8388607G"], status: 1).first { $0.subject == "space" })
    #expect(found.level == "failed" && found.message.contains("--min-free"))
  }

  @Test func `a host of a rule that would be refused has failed until its network is allowed`() throws {
    let config = folders.folder.file("config.json")
    try Data(#"{"hosts": {"127.0.0.1": {"per-host": 2}, "*.example.org": {"per-host": 1}}}"#.utf8)
      .write(to: URL(fileURLWithPath: config))
    let refused = try doctor(["--config", config], status: 1).filter { $0.subject == "host" }
    #expect(refused.map(\.level) == ["failed"] && refused[0].message.contains("a loopback address"))
    let allowed = try doctor(["--config", config, "--allow-net", "127.0.0.0/8"], status: 0)
    #expect(allowed.filter { $0.subject == "host" }.map(\.level) == ["ok"])
    #expect(allowed.contains { $0.subject == "addresses" && $0.message.hasSuffix("127.0.0.0/8") })
    #expect(allowed.contains { $0.subject == "config" && $0.message.contains(config) })
  }

  @Test func `it takes the options of watch, and names that a proxy looks up are not looked up`() throws {
    let config = folders.folder.file("config.json")
    try Data(#"{"hosts": {"only-by-proxy.invalid": {"per-host": 2}}}"#.utf8).write(to: URL(fileURLWithPath: config))
    let options = ["--config", config, "--filtrations", "1", "--downloads", "4", "--jobs", "2", "--log-format", "json"]
    let lines = try doctor(options, ["https_proxy": "http://127.0.0.1:1"], status: 0)
    #expect(!lines.contains { $0.subject == "host" })
    #expect(lines.contains { $0.subject == "memory" && $0.message.contains("1 filtration ") })
    _ = try DarkroomProcess.run(["doctor", "--lock-wait", "1"], in: folders.folder).expect(status: 64)
  }

  @Test func `operands are refused`() throws {
    _ = try DarkroomProcess.run(["doctor", "now"], in: folders.folder).expect(status: 64)
  }
}
