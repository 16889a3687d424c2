import Foundation
import TestSupport
import Testing

/// The file of `--metrics`.
@Suite(.blocking) struct MetricsTests {
  private let folders: DarkroomFolders
  private var file: String { folders.folder.file("darkroom.prom") }

  init() throws { folders = try DarkroomFolders() }

  private func run(_ manifests: [String: String], _ more: [String] = []) throws -> DarkroomProcess.Finished {
    for (name, text) in manifests { try folders.drop(name, text) }
    return try folders.run(["--metrics", file] + more)
  }

  private func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }

  /// The values by name and labels, without `darkroom_`.
  private func values() throws -> [String: Double] {
    let lines = try text().split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
    return Dictionary(
      lines.map { (String($0[0].dropFirst("darkroom_".count)), Double($0[1]) ?? .nan) }, uniquingKeysWith: { $1 })
  }

  @Test func `run leaves its numbers, and the next one adds its own`() throws {
    let manifests = ["a.txt": "coffee.jpg\nmissing.jpg\n", "b.txt": "coffee.jpg\n", "c.json": "{"]
    _ = try run(manifests).expect(status: 65)
    var values = try values()
    for (state, count) in ["succeeded": 1.0, "partial": 1, "rejected": 1, "failed": 0] {
      #expect(values["jobs_ended_total{state=\"\(state)\"}"] == count)
    }
    #expect(values["entries_ended_total{state=\"filtered\"}"] == 2)
    #expect(values["entries_ended_total{state=\"failed\"}"] == 1)
    #expect(values["entry_failures_total{code=\"file-not-found\"}"] == 1)
    #expect(values["written_bytes_total"] ?? 0 > 0 && values["downloaded_bytes_total"] ?? 0 > 0)
    #expect(values["download_duration_seconds_count"] == 2 && values["filtration_duration_seconds_count"] == 2)
    #expect(values["jobs{state=\"running\"}"] == 0 && values["workers"] == 0)
    #expect(values["workers_started_total"] ?? 0 > 0)
    let success = try #require(values["job_last_success_timestamp_seconds"])
    #expect(abs(success - Date().timeIntervalSince1970) < 600)

    _ = try run([:]).expect(status: 0)
    values = try self.values()
    #expect(values["entries_ended_total{state=\"filtered\"}"] == 2)
    #expect(values["job_last_success_timestamp_seconds"] == success)
    _ = try run(["b.txt": "coffee.jpg\nchelsea.jpg\n"]).expect(status: 0)
    values = try self.values()
    #expect(values["entries_ended_total{state=\"filtered\"}"] == 4)
    #expect(values["entries_reused_total"] == 1)
    #expect(values["jobs_ended_total{state=\"succeeded\"}"] == 2)
  }

  @Test func `the documentation has a row for each family, and no other`() throws {
    _ = try run([:]).expect(status: 0)
    let names = try text().matches(of: /# TYPE (\S+) (\S+)/).map { "\($0.1) \($0.2)" }
    let rows = try Documentation.text("Documentation/operations.md").matches(of: /\n\| `(darkroom_[a-z_]+)` \| (\w+)/)
    #expect(rows.map { "\($0.1) \($0.2)" } == names)
  }

  @Test(arguments: [
    ("none/", 64, "--metrics must name a new file"), ("folder", 64, "--metrics must name a new file"),
    ("folder/", 64, "--metrics must name a new file"), ("link", 64, "--metrics must name a new file"),
    ("mine.csv", 64, "--metrics must name a new file"), ("outbox/x.prom", 64, "must not lie in the outbox"),
    ("inbox/x.prom", 64, "--metrics must not lie in the inbox"), ("inbox/a/x.prom", 64, "must not lie in the inbox"),
    ("folder/x/y.prom", 66, "--metrics: "),
  ])
  func `a path that cannot be that of the file is an error, and nothing is changed`(
    path: String, status: Int32, says: String
  ) throws {
    for name in ["folder", "inbox/a"] { try folders.folder.makeFolder(name) }
    try FileManager.default.createSymbolicLink(atPath: folders.folder.file("link"), withDestinationPath: "folder/f")
    try Data().write(to: URL(fileURLWithPath: folders.folder.file("folder/x")))
    try Data("url\n".utf8).write(to: URL(fileURLWithPath: folders.folder.file("mine.csv")))
    let before = try FileManager.default.subpathsOfDirectory(atPath: folders.folder.path).sorted()
    let run = try folders.run(["--metrics", folders.folder.file(path)]).expect(status: status)
    #expect(run.error.hasPrefix("darkroom: \(says)") || run.error.contains(says), "\(run.error)")
    #expect(try FileManager.default.subpathsOfDirectory(atPath: folders.folder.path).sorted() == before)
  }

  @Test func `a file that cannot be written is one warning, and the work goes on`() throws {
    // Its temporary name is taken by a folder.
    try folders.folder.makeFolder(".darkroom.prom.new/x")
    let run = try run(["a.txt": "coffee.jpg\n"], ["--quiet"]).expect(status: 0)
    #expect(run.error.split(separator: "\n").count == 1 && run.error.contains("--metrics cannot be written"))
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func `a missing folder is one warning, and the work goes on`() throws {
    let missing = folders.folder.file("a/b")
    try folders.drop("a.txt", "coffee.jpg\n")
    let run = try folders.run(["--metrics", missing + "/x.prom", "--quiet"]).expect(status: 0)
    #expect(run.error.split(separator: "\n").count == 1, "\(run.error)")
    #expect(run.error.contains("warning: the file of --metrics cannot be written"), "\(run.error)")
    #expect(run.error.hasSuffix(": no such folder: \(missing)\n"), "\(run.error)")
    #expect(!FileManager.default.fileExists(atPath: missing))
  }

  @Test func `after SIGHUP a missing folder is one warning, and the file is written once it is there`() throws {
    let config = folders.folder.file("config.json")
    func configure(_ name: String) throws {
      try #"{ "metrics": "\#(name)" }"#.write(toFile: config, atomically: true, encoding: .utf8)
    }
    try configure("first.prom")
    let watch = try folders.watch(["--config", config])
    try configure("later/second.prom")
    watch.send(SIGHUP)
    #expect(try watch.waitForLine(containing: "no such folder: ") != nil)
    try folders.folder.makeFolder("later")
    // A change of the status is written at once, not only after 15 s.
    try folders.pause(watch)
    let file = folders.folder.file("later/second.prom")
    #expect(eventually({ FileManager.default.fileExists(atPath: file) }, is: { $0 }))
    try watch.stop()
  }

  @Test func `watch writes while it works, and takes another file with SIGHUP`() throws {
    let config = folders.folder.file("config.json")
    func configure(_ name: String) throws {
      try #"{ "metrics": "\#(name)" }"#.write(toFile: config, atomically: true, encoding: .utf8)
    }
    try configure("first.prom")
    let watch = try folders.watch(["--config", config])
    try folders.pause(watch)
    func holdsLock(_ name: String) -> Bool {
      let text = try? String(contentsOfFile: folders.folder.file(name), encoding: .utf8)
      return text?.contains("\ndarkroom_pause_causes{cause=\"lock\"} 1\n") == true
    }
    #expect(eventually({ holdsLock("first.prom") }, is: { $0 }))
    try configure("second.prom")
    watch.send(SIGHUP)
    #expect(eventually({ holdsLock("second.prom") }, is: { $0 }))
    try watch.stop()
  }
}
