import Foundation
import Glibc
import Testing
import TestSupport

@testable import Inbox

@Suite struct LockTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func locks(extra: String? = nil) throws -> [Lock] {
    try Inbox(path: folder.path, extraLock: extra).scan().locks
  }

  @Test(
    "whatever its kind, what is named like a lock is one", arguments: ["file", "folder", "link", "dangling", "pipe"])
  func kinds(kind: String) throws {
    try folder.write("secret of another file\n", as: "target")
    for name in ["x.lock", ".x.lock", "X.LOCK", "lock", ".lock"] {
      switch kind {
      case "file": try folder.write("", as: name)
      case "folder": try folder.makeFolder(name)
      case "link": try folder.link(name, to: "target")
      case "dangling": try folder.link(name, to: "nowhere")
      default: mkfifo(folder.file(name), 0o600)
      }
    }
    let found = try locks()
    #expect(found.map(\.name) == [".lock", ".x.lock", "X.LOCK", "lock", "x.lock"])
    #expect(found.allSatisfy { $0.reason == nil }, "no reason is read through a link")
  }

  @Test("a lock whose name is not UTF-8 is a lock")
  func bytes() throws {
    let path = Array(folder.path.utf8CString.dropLast()) + [0x2f, CChar(bitPattern: 0xff)] + Array(".lock".utf8CString)
    close(open(path, O_CREAT, 0o600))
    #expect(try locks().map(\.name) == ["\\xff.lock"])
  }

  @Test(
    "the reason is the first line",
    arguments: [
      ("backup until noon\nby root\n", "backup until noon"), ("no line feed", "no line feed"), ("dos\r\nline", "dos"),
      ("see http://user:s3cret@h/ first", "see http://h/ first"), ("ask bob @ noon", "ask bob @ noon"),
      ("back\u{202e}wards", "backwards"), ("\n\nlater", nil), ("", nil), ("\u{1b}[31mred\u{7}", "[31mred"),
      ("日本\n", "日本"), ("\u{0}", nil),
      (String(repeating: "x", count: 5000), String(repeating: "x", count: 200)),
      (String(repeating: "é", count: 5000), String(repeating: "é", count: 200)),
    ] as [(String, String?)])
  func reason(content: String, expected: String?) throws {
    try folder.write(content, as: "a.lock")
    #expect(try locks().map(\.reason) == [expected])
  }

  @Test("a reason that is not UTF-8 is shown as far as it can be")
  func binary() throws {
    try Data([0x61, 0xff, 0x62]).write(to: URL(fileURLWithPath: folder.file("a.lock")))
    #expect(try locks().map(\.reason) == ["a\u{fffd}b"])
  }

  @Test("--lock-file counts when it is there, whatever it is, or when that cannot be found out")
  func extra() throws {
    let elsewhere = try TemporaryFolder()
    try elsewhere.write("why\n", as: "present")
    try elsewhere.makeFolder("folder")
    try elsewhere.link("dangling", to: "nowhere")
    try elsewhere.link("loop", to: "loop")
    let present = ["present", "folder", "dangling", "loop", "loop/x", String(repeating: "x", count: 300)]
    for name in present { #expect(try locks(extra: elsewhere.file(name)).map(\.name) == [elsewhere.file(name)]) }
    for name in ["absent", "absent/x", "present/x"] { #expect(try locks(extra: elsewhere.file(name)).isEmpty) }
    #expect(try locks(extra: elsewhere.file("present")).map(\.reason) == ["why"])
  }

  @Test("locks in the inbox and --lock-file count each for itself")
  func several() throws {
    for name in ["b.lock", "a.lock"] { try folder.write("", as: name) }
    let elsewhere = try TemporaryFolder()
    let extra = try elsewhere.write("", as: "zz")
    #expect(try Set(locks(extra: extra).map(\.name)) == ["a.lock", "b.lock", extra])
  }
}
