import System
import Testing
import TestSupport

@testable import Inbox

/// Which ignored files are reported when.
@Suite struct IgnoredFilesTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("ignored.json") }

  init() throws { folder = try TemporaryFolder() }

  private static func file(_ name: String, _ identity: String = "1", why: String = "x") -> InboxScan.Ignored {
    InboxScan.Ignored(file: FileName(name), why: why, identity: identity)
  }

  /// What a process reports that finds these files, scan by scan.
  private func reports(_ scans: [InboxScan.Ignored]..., inbox: String = "/inbox") -> [[String]] {
    var files = IgnoredFiles(path: path, inbox: inbox)
    return scans.map { scan in
      defer { files.save() }
      return files.update(scan).map(\.file.description)
    }
  }

  @Test func `a file is reported once, and again by a later process only if it has changed or was away`() {
    let (a, b) = (Self.file("a"), Self.file("b"))
    #expect(reports([a], [a], [a, b], [b, a]) == [["a"], [], ["b"], []])
    #expect(reports([a, b]) == [[]])
    #expect(reports([a, Self.file("b", "2")]) == [["b"]])
    #expect(reports([a, Self.file("b", "2", why: "y")]) == [["b"]])
    #expect(reports([a], [a, Self.file("b", "2", why: "y")]) == [[], ["b"]])
    #expect(reports([a]) == [[]])
    #expect(reports([]) == [[]])
    #expect(reports([a]) == [["a"]])
  }

  @Test func `files whose names differ in the spelling of é alone are each reported once`() throws {
    let files = [Self.file("caf\u{e9}.doc"), Self.file("cafe\u{301}.doc", "2")]
    #expect(reports(files) == [files.map(\.file.description)])
    #expect(reports(files) == [[]] && reports(files) == [[]])
  }

  @Test func `what an earlier version has reported is not reported again`() throws {
    try folder.write(#"{"files":{"café":"1 x","a":"1 x"},"inbox":"/inbox"}"#, as: "ignored.json")
    #expect(reports([Self.file("a"), Self.file("café")]) == [[]])
    #expect(reports([Self.file("a"), Self.file("café", "2")]) == [["café"]])
  }

  @Test func `a file that changes under one process is not reported again by it`() {
    #expect(reports([Self.file("a")], [Self.file("a", "2")], [Self.file("a", "3")]) == [["a"], [], []])
  }

  @Test func `while it is watched, a file that goes within a second is not reported, also not by a later process`() {
    let (a, b) = (Self.file("a"), Self.file("b"))
    var files = IgnoredFiles(path: path, inbox: "/inbox")
    func update(_ found: [InboxScan.Ignored], at now: Double) -> [String] {
      defer { files.save() }
      return files.update(found, now: now, isPatient: true).map(\.file.description)
    }
    #expect(update([a], at: 10) == ["a"] && files.due == nil, "what was there at the start")
    #expect(update([a, b], at: 11) == [] && files.due == 12)
    #expect(files.current == [a, b], "status shows it")
    #expect(reports([a, b]) == [["b"]], "it is not known yet")
    #expect(update([a], at: 11.5) == [] && files.due == nil)
    #expect(update([a, b], at: 13) == [] && update([b], at: 13.5) == [])
    #expect(update([b], at: 14) == ["b"] && files.due == nil)
    #expect(update([b], at: 15) == [] && update([a, b], at: 16) == [] && update([a, b], at: 17) == ["a"])
    #expect(reports([a, b]) == [[]])
  }

  @Test func `folders are never reported, and nothing is written for them`() throws {
    let pictures = InboxScan.Ignored(file: FileName("p"), why: "it is a folder", identity: "1", isFolder: true)
    #expect(reports([pictures]) == [[]])
    #expect(try folder.names().isEmpty)
  }

  @Test func `what was reported of another inbox does not count, nor what cannot be read`() throws {
    #expect(reports([Self.file("a")]) == [["a"]])
    #expect(reports([Self.file("a")], inbox: "/other") == [["a"]])
    try folder.write("{", as: "ignored.json")
    #expect(reports([Self.file("a")], inbox: "/other") == [["a"]])
  }

  @Test func `the file is private, and only so many are remembered`() throws {
    let many = (0...IgnoredFiles.limit).map { Self.file("\($0)") }
    #expect(reports(many).first?.count == many.count)
    #expect(reports(many).first?.count == 1)
    #expect(try !FileStatus(of: path).isOpenToOthers)
    #expect(try folder.names() == ["ignored.json"])
  }
}
