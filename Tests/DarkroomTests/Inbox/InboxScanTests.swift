import Foundation
import Glibc
import System
import Testing
import TestSupport

@testable import Inbox

@Suite struct InboxScanTests {
  private let folder: TemporaryFolder
  private let inbox: Inbox

  init() throws {
    folder = try TemporaryFolder()
    inbox = try Inbox(path: folder.path, extraLock: nil)
  }

  @Test("regular files are manifests; links, pipes, folders and strange names are ignored; the rest is skipped")
  func kinds() throws {
    for name in ["a.json", "b.TXT", "c.jpg", "README.txt", ".d.json", "e.json.part", "f.json~"] {
      try folder.write("x", as: name)
    }
    try folder.makeFolder("folder.json")
    try folder.makeFolder("folder")
    try folder.makeFolder("README")
    try folder.link("pictures", to: "folder")
    try folder.link("link.json", to: "a.json")
    try folder.link("dangling.txt", to: "nowhere")
    mkfifo(folder.file("pipe.jsonl"), 0o600)
    let strange =
      Array(folder.path.utf8CString.dropLast()) + [0x2f, CChar(bitPattern: 0xff), 0x2e, 0x74, 0x78, 0x74, 0]
    close(open(strange, O_CREAT, 0o600))

    let scan = try inbox.scan()
    #expect(scan.manifests.map(\.file).sorted() == ["a.json", "b.TXT"])
    #expect(scan.locks.isEmpty)
    let told = Dictionary(uniqueKeysWithValues: scan.ignored.map { ($0.file.description, $0.why) })
    #expect(told["link.json"] == "it is a symbolic link")
    #expect(told["dangling.txt"] == "it is a symbolic link")
    #expect(told["pipe.jsonl"] == "it is a pipe")
    #expect(told["c.jpg"]?.contains("extension") == true)
    #expect(told["\\xff.txt"] == "its name is not UTF-8")
    #expect(told["pictures"] == "it is a symbolic link")
    #expect(told["folder"] == "it is a folder" && told["folder.json"] == "it is a folder")
    #expect(told.count == 8)
    #expect(scan.ignored.filter(\.isFolder).map(\.file.description).sorted() == ["folder", "folder.json"])
  }

  @Test("a file that cannot be read is ignored", .disabled(if: geteuid() == 0, "root reads everything"))
  func unreadable() throws {
    try folder.write("x", as: "a.json")
    chmod(folder.file("a.json"), 0)
    let why = try inbox.scan().ignored.map(\.why)
    #expect(why.count == 1 && why.first?.hasPrefix("it cannot be read: its owner is uid") == true, "\(why)")
  }

  @Test("the oldest comes first, then by name")
  func order() throws {
    for (name, time) in [("b.txt", 100), ("a.txt", 300), ("d.txt", 200), ("c.txt", 200)] {
      try folder.write("x", as: name)
      let times = [timespec(tv_sec: time, tv_nsec: 0), timespec(tv_sec: time, tv_nsec: 0)]
      utimensat(AT_FDCWD, folder.file(name), times, 0)
    }
    #expect(try inbox.scan().manifests.map(\.file) == ["b.txt", "c.txt", "d.txt", "a.txt"])
  }

  @Test("an identity is the same as long as nothing was changed")
  func identity() throws {
    try folder.write("x", as: "a.txt")
    let before = try inbox.scan().manifests
    #expect(try inbox.scan().manifests == before)
    try folder.write("xy", as: "a.txt")
    #expect(try inbox.scan().manifests != before)
  }

  @Test("a folder that is not there is an error, not an empty inbox")
  func missing() {
    let error = #expect(throws: SystemError.self) { try Inbox(path: folder.file("gone"), extraLock: nil).scan() }
    #expect(error?.code == ENOENT)
  }
}
