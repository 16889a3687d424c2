import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import System

@Suite struct SystemTests {
  @Test(
    "a file name is shown so that it cannot do harm in a terminal",
    arguments: [
      (Array("plain ü 日 👍".utf8), "plain ü 日 👍"), (Array("a\nb".utf8), "a\\x0ab"), ([0x61, 0xff, 0x62], "a\\xffb"),
      (Array("\u{1b}[31m".utf8), "\\x1b[31m"), ([0xc2, 0x9b], "\\x9b"), ([0x7f], "\\x7f"), ([0xc3], "\\xc3"), ([], ""),
      ([0x0a, 0xff], "\\x0a\\xff"), (Array("a\u{202e}gpj.exe".utf8), "a\\u{202e}gpj.exe"),
      (Array("a\u{2028}b".utf8), "a\\u{2028}b"), (Array("a\u{200d}b".utf8), "a\u{200d}b"),
    ] as [([UInt8], String)])
  func fileName(bytes: [UInt8], expected: String) { #expect(FileName(bytes: bytes).description == expected) }

  @Test(arguments: [
    (9_300_000_000_000_000, 0, 253_402_300_799_000), (Int.max, 999_999_999, 253_402_300_799_999),
    (Int.min, 0, -62_135_596_800_000), (1, 2_500_000, 1002), (-1, 0, -1000),
  ])
  func `the time of a file may be any`(seconds: Int, nanoseconds: Int, milliseconds: Int) {
    let time = FileIdentity.Time(timespec(tv_sec: seconds, tv_nsec: nanoseconds))
    #expect(time.milliseconds == milliseconds)
  }

  @Test func `what is written to a descriptor that does not wait arrives as a whole, however slowly it is read`() throws
  {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let (reader, writer) = (ends[0], ends[1])
    for end in ends { #expect(fcntl(end, F_SETFL, O_NONBLOCK) == 0 && fcntl(end, F_SETFD, FD_CLOEXEC) == 0) }
    let bytes = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let read = Mutex<[UInt8]>([])
    let group = DispatchGroup()
    DispatchQueue.global().async(group: group) {
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = Glibc.read(reader, &buffer, buffer.count)
        if count > 0 { read.withLock { $0 += buffer.prefix(count) } }
        if count == 0 { break }
        if count < 0 { sched_yield() }
      }
      close(reader)
    }
    #expect(bytes.withUnsafeBytes { OpenFile.write($0, to: writer) } == nil)
    close(writer)
    group.wait()
    #expect(read.withLock { $0 } == bytes)
  }

  @Test func `a system error names the thing and the reason, and the call unless the thing is missing`() {
    func message(_ body: () throws -> Void) -> String? { #expect(throws: SystemError.self) { try body() }?.description }
    #expect(message { _ = try OpenFile(reading: "/proc/1/x/y") } == "/proc/1/x/y: No such file or directory")
    #expect(message { _ = try OpenFile(reading: "/dev/null/x") } == "/dev/null/x: Not a directory (open)")
    let none = "/nonexistent/x"
    #expect(message { _ = try OpenFile(folder: none) } == "no such folder: \(none)")
    #expect(message { _ = try OpenFolder(none) } == "no such folder: \(none)")
    #expect(message { _ = try OpenFolder("/proc").folder("x/y") } == "no such folder: /proc/x/y")
    #expect(message { _ = try Folder.resolved(none) } == "no such folder: \(none)")
    #expect(message { _ = try Folder.names(in: none) } == "no such folder: \(none)")
    #expect(message { _ = try Folder.freeSpace(none) } == "no such folder: \(none)")
  }

  @Test(
    "out of space is ENOSPC or EDQUOT",
    arguments: [(ENOSPC, true), (EDQUOT, true), (EFBIG, false), (EIO, false), (0, false)])
  func outOfSpace(code: Int32, expected: Bool) {
    #expect(SystemError("write", "x", code: code).isOutOfSpace == expected)
  }

  @Test("what is above a path", arguments: [("/a/b", "/a"), ("/a", "/"), ("a/b", "a"), ("a", "."), ("a/b/", "a/b")])
  func parent(path: String, expected: String) { #expect(Folder.parent(of: path) == expected) }

  @Test(
    arguments: [
      (UInt(10), UInt(4096), 40960), (0, 4096, 0), (.max >> 24, 1 << 24, .max), (.max, 1, .max), (1, .max, .max),
      (.max, .max, .max),
    ])
  func `space that overflows is as much as can be told`(blocks: UInt, blockSize: UInt, bytes: Int) {
    #expect(Folder.bytes(blocks, of: blockSize) == bytes)
  }

  @Test(.timeLimit(.minutes(30))) func `a long name is shown in a time that grows with its length`() {
    let name = String(repeating: "é\u{1}", count: 500_000)
    #expect(FileName(name).description.utf8.count == 3_000_000)
  }
}

@Suite struct FolderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test("a folder is created with those above it, and tells which are to be synced")
  func create() throws {
    let path = folder.file("a/b/c")
    #expect(try Folder.create(path) == [folder.path, folder.file("a"), folder.file("a/b")])
    #expect(try FileStatus(of: path).kind == .folder)
    #expect(try Folder.create(path) == [], "saying it twice is no error")
    #expect(try Folder.create(folder.file("a/b/d")) == [folder.file("a/b")])
  }

  @Test(
    "a link to a folder will do; a file, a dangling link or a file above is in the way",
    arguments: [
      ("link", nil), ("link/x", nil), ("file", ENOTDIR), ("file/x", ENOTDIR), ("dangling", ENOTDIR), ("loop/x", ELOOP),
      (String(repeating: "x", count: 300), ENAMETOOLONG), (String(repeating: "x", count: 300) + "/y", ENAMETOOLONG),
    ] as [(String, Int32?)])
  func inTheWay(name: String, code: Int32?) throws {
    try folder.makeFolder("real")
    try folder.write("kept", as: "file")
    try folder.link("link", to: "real")
    try folder.link("dangling", to: "nowhere")
    try folder.link("loop", to: "loop")
    if let code {
      let error = #expect(throws: SystemError.self) { try Folder.create(folder.file(name)) }
      #expect(error?.code == code)
    } else {
      try Folder.create(folder.file(name))
    }
    #expect(folder.text("file") == "kept")
    #expect(folder.text("nowhere") == nil)
  }

  @Test("a rename replaces nothing: no file, no folder, no link", arguments: ["file", "folder", "link", "dangling"])
  func withoutReplacing(kind: String) throws {
    let source = try folder.write("new", as: "source")
    try folder.write("old", as: "file")
    try folder.makeFolder("folder")
    try folder.link("link", to: "file")
    try folder.link("dangling", to: "nowhere")
    #expect(try Folder.renameWithoutReplacing(source, to: folder.file(kind)) == false)
    #expect(folder.text("source") == "new" && folder.text("file") == "old" && folder.text("nowhere") == nil)
    #expect(try Folder.renameWithoutReplacing(source, to: folder.file("free")))
    #expect(folder.text("source") == nil && folder.text("free") == "new")
  }

  @Test("what cannot be renamed is an error, not an answer")
  func renameFails() throws {
    let missing = #expect(throws: SystemError.self) {
      try Folder.renameWithoutReplacing(folder.file("missing"), to: folder.file("x"))
    }
    #expect(missing?.code == ENOENT)
    let source = try folder.write("x", as: "source")
    let noFolder = #expect(throws: SystemError.self) {
      try Folder.renameWithoutReplacing(source, to: folder.file("missing/x"))
    }
    #expect(noFolder?.code == ENOENT)
  }

  @Test("of many threads that rename to one name one succeeds")
  func race() async throws {
    for _ in 0..<20 {
      try? Folder.removeFile(folder.file("target"))
      let sources = try (0..<8).map { try folder.write("\($0)", as: "s\($0)") }
      let target = folder.file("target")
      let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
        for source in sources { group.addTask { try Folder.renameWithoutReplacing(source, to: target) } }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(winners == 1)
    }
  }

  @Test("removing a file that is not there is no error; removing a folder is one")
  func removing() throws {
    try Folder.removeFile(folder.file("missing"))
    try folder.makeFolder("sub")
    #expect(throws: SystemError.self) { try Folder.removeFile(folder.file("sub")) }
  }

  @Test("names come as bytes, without . and ..")
  func names() throws {
    let names: [[UInt8]] = [[0xff, 0xfe], Array(".hidden".utf8), Array("...".utf8), Array("é".utf8)]
    for name in names {
      close(
        open(
          Array(folder.path.utf8CString.dropLast()) + [0x2f] + name.map { CChar(bitPattern: $0) } + [0], O_CREAT, 0o600)
      )
    }
    #expect(try Set(Folder.names(in: folder.path).map(\.bytes)) == Set(names))
  }

  @Test("bytes that were written are read, in whatever pieces")
  func openFile() throws {
    let file = try OpenFile(creating: folder.file("x"))
    let text = String(repeating: "0123456789", count: 100_000)
    try file.write(text)
    #expect(try OpenFile(reading: folder.file("x")).readAll() == Data(text.utf8))
    #expect(try file.readStart(4) == Array("0123".utf8), "wherever writing stands")
    var got = 0
    try OpenFile(reading: folder.file("x")).eachChunk(upTo: 300_001) { got += $0.count }
    #expect(got == 300_001)
    let error = #expect(throws: SystemError.self) { try OpenFile(creating: folder.file("x")) }
    #expect(error?.code == EEXIST)
  }
}
