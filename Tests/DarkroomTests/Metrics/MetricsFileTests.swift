import Foundation
import TestSupport
import Testing

@testable import Darkroom

@Suite struct MetricsFileTests {
  private let folder: TemporaryFolder
  private let path: String
  private let file: MetricsFile
  private let status = Status(version: "1", inbox: "in", outbox: "out")

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("a/darkroom.prom")
    file = MetricsFile(path: path)
    try folder.makeFolder("a")
  }

  private func stalled() throws -> Double? {
    MetricFamily.values(in: try String(contentsOfFile: path, encoding: .utf8))["darkroom_pause_causes{cause=\"disk\"}"]
  }

  @Test func `a reader sees the whole old file or the whole new one, and everyone may read it`() throws {
    let umask = umask(0o077)
    #expect(file.write(status, now: 0) == nil)
    _ = Glibc.umask(umask)
    let reader = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    let first = try String(contentsOfFile: path, encoding: .utf8)
    file.add(.paused(.disk(reason: "")))
    #expect(file.write(status, now: 1) == nil)
    #expect(try reader.readToEnd() == Data(first.utf8))
    #expect(try String(contentsOfFile: path, encoding: .utf8) != first)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("a")) == ["darkroom.prom"])
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o644)
  }

  @Test func `a change is written once per second at most, at the end immediately, and nothing new every 15 s`() throws
  {
    #expect(file.write(status, now: 0) == nil)
    file.add(.paused(.disk(reason: "")))
    #expect(file.write(status, now: 0.5) == nil)
    #expect(try stalled() == 0 && file.due == 1)
    #expect(file.write(status, now: 1) == nil)
    #expect(try stalled() == 1 && file.due == 16)
    try FileManager.default.removeItem(atPath: path)
    #expect(file.write(status, now: 15.9) == nil)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(file.write(status, now: 17) == nil)
    #expect(FileManager.default.fileExists(atPath: path))
    file.add(.causeGone(.disk(reason: ""), remaining: ""))
    #expect(file.write(status, now: 17.1, isLast: true) == nil)
    #expect(try stalled() == 0)
  }

  @Test func `a file that cannot be written is reported once, and tried again`() throws {
    for round in 0..<2 {
      try FileManager.default.moveItem(atPath: folder.file("a"), toPath: folder.file("b"))
      let time = Double(round) * 100 + 20
      #expect(file.write(status, now: time)?.code == ENOENT)
      #expect(file.write(status, now: time + 15) == nil)
      try FileManager.default.moveItem(atPath: folder.file("b"), toPath: folder.file("a"))
      #expect(file.write(status, now: time + 30) == nil)
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }

  @Test func `counts continue from a file whose folder is there only later, and a user's file there stays`() throws {
    let (late, mine) = (MetricsFile(path: folder.file("b/late.prom")), MetricsFile(path: folder.file("b/mine.prom")))
    for file in [late, mine] { #expect(file.write(status, now: 0)?.code == ENOENT) }
    try folder.makeFolder("b")
    let earlier = "# HELP darkroom_workers_lost_total x\ndarkroom_workers_lost_total 4\n"
    try earlier.write(toFile: folder.file("b/late.prom"), atomically: true, encoding: .utf8)
    try "mine".write(toFile: folder.file("b/mine.prom"), atomically: true, encoding: .utf8)
    #expect(late.write(status, now: 15) == nil)
    // Another failure than before is reported, once.
    #expect(mine.write(status, now: 15)?.code == EEXIST && mine.write(status, now: 30) == nil)
    #expect(try String(contentsOfFile: folder.file("b/mine.prom"), encoding: .utf8) == "mine")
    let text = try String(contentsOfFile: folder.file("b/late.prom"), encoding: .utf8)
    #expect(text.contains("darkroom_workers_lost_total 4\n"), "\(text)")
  }

  @Test func `another file gets the same numbers`() throws {
    let earlier = folder.file("a/other.prom")
    let ours = "# HELP darkroom_workers_lost_total Lost.\n"
    try (ours + "darkroom_workers_lost_total 4\n").write(toFile: path, atomically: true, encoding: .utf8)
    try (ours + "darkroom_workers_lost_total 9\n").write(toFile: earlier, atomically: true, encoding: .utf8)
    #expect(file.write(status, now: 0) == nil)
    file.path = earlier
    #expect(file.write(status, now: 1) == nil)
    #expect(try String(contentsOfFile: earlier, encoding: .utf8).contains("darkroom_workers_lost_total 4\n"))
    file.path = nil
    #expect(file.write(status, now: 9, isLast: true) == nil)
    #expect(file.due == nil)
  }
}
