import Foundation
import Glibc
import System
import Testing
import TestSupport

@testable import Inbox
@testable import Model

/// The inbox's path leads to another folder for a while.
@Suite struct InboxFolderTests {
  private let root: TemporaryFolder
  private var path: String { root.file("inbox") }

  init() throws {
    root = try TemporaryFolder()
    try root.makeFolder("inbox")
    try root.write("x", as: "inbox/a.txt")
  }

  private func watcher(pollInterval: Double = 1) throws -> InboxWatcher {
    let inbox = try Inbox(path: path, extraLock: nil)
    #expect(try inbox.own() == nil)
    var configuration = Configuration(inbox: path, processors: 1)
    configuration.pollInterval = pollInterval
    return InboxWatcher(inbox: inbox, configuration: configuration)
  }

  private func scan(_ watcher: InboxWatcher) throws(SystemError) -> InboxWatcher.View {
    try watcher.scan(now: 0) { $0.manifests }
  }

  private func moveAway() throws {
    try FileManager.default.moveItem(atPath: path, toPath: root.file("away"))
  }

  private func isReadable(_ watcher: InboxWatcher) -> Bool {
    var descriptor = pollfd(fd: watcher.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, 0) == 1
  }

  enum Other: CaseIterable { case nothing, folder, link, copyOfTheFile }

  @Test(arguments: Other.allCases, [false, true])
  func `another folder is not scanned, and the inbox is when it is back`(other: Other, isWatched: Bool) throws {
    let watcher = try watcher()
    if isWatched { watcher.beginWatching() }
    let first = try scan(watcher)
    #expect(first.fresh.map(\.file) == ["a.txt"] && !first.hasReturned)
    try moveAway()
    switch other {
    case .nothing: break
    case .link: try root.link("inbox", to: root.file("away"))
    case .folder: try root.makeFolder("inbox")
    case .copyOfTheFile:
      try root.makeFolder("inbox")
      try root.write("\(getpid())\nanother\n", as: "inbox/" + Inbox.instanceFile)
    }
    for _ in 0..<2 {
      let error = #expect(throws: SystemError.self) { try scan(watcher) }
      #expect(error?.code == (other == .nothing ? ENOENT : ESTALE))
    }
    if other != .nothing { try FileManager.default.removeItem(atPath: path) }
    try FileManager.default.moveItem(atPath: root.file("away"), toPath: path)
    let back = try scan(watcher)
    #expect(back.fresh.map(\.file) == ["a.txt"] && back.hasReturned)
    if !isWatched { watcher.beginWatching() }
    #expect(try !scan(watcher).hasReturned)
    _ = watcher.isScanDue(now: 0)
    try root.write("x", as: "inbox/b.txt")
    #expect(isReadable(watcher))
  }

  @Test func `no notices are asked for before the first wait, and what came before it is found then`() throws {
    let watcher = try watcher()
    #expect(try scan(watcher).fresh.map(\.file) == ["a.txt"])
    #expect(watcher.descriptor == -1 && !watcher.isScanDue(now: 0))
    try root.write("x", as: "inbox/b.txt")
    watcher.beginWatching()
    #expect(watcher.descriptor >= 0 && watcher.isScanDue(now: 0))
    #expect(try scan(watcher).fresh.map(\.file).sorted() == ["a.txt", "b.txt"])
    watcher.beginWatching()
    #expect(!watcher.isScanDue(now: 0))
  }

  @Test func `a change of the folder is found by a look before notices are asked for`() throws {
    let watcher = try watcher(pollInterval: 3600)
    let began = Clock.monotonicSeconds
    func isScanDue() -> Bool { watcher.isScanDue(now: began + 1800) }
    #expect(isScanDue(), "the first scan")
    _ = try watcher.scan(now: began) { $0.manifests }
    _ = isScanDue()
    #expect(!isScanDue(), "of an interval of an hour")
    try root.write("x", as: "inbox/b.lock")
    // Kernels may give the same time to changes within 4 ms.
    try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
    #expect(isScanDue())
  }

  @Test func `a folder with the file that this process wrote is the inbox, whatever its inode, and is watched`() throws
  {
    let watcher = try watcher()
    watcher.beginWatching()
    _ = try scan(watcher)
    try moveAway()
    #expect(throws: SystemError.self) { try scan(watcher) }
    try FileManager.default.copyItem(atPath: root.file("away"), toPath: path)
    let back = try scan(watcher)
    #expect(back.hasReturned && back.fresh.map(\.file) == ["a.txt"])
    _ = watcher.isScanDue(now: 0)
    try root.write("x", as: "inbox/b.txt")
    #expect(isReadable(watcher))
    #expect(try scan(watcher).fresh.map(\.file).sorted() == ["a.txt", "b.txt"])
    #expect(throws: StopError.self) { try Inbox(path: path, extraLock: nil).own() }
  }

  @Test func `what killed commands left goes when it is old and ours, and nothing else`() throws {
    let watcher = try watcher()
    let old = [timespec(tv_sec: time(nil) - 7200, tv_nsec: 0), timespec(tv_sec: time(nil) - 7200, tv_nsec: 0)]
    let stay = [".darkroom-add-new", ".darkroom-done", ".dropping", ".darkroom-addition", "a.txt"]
    for name in stay + [".darkroom-add-1", ".darkroom-pause-2", ".darkroom-add-theirs"] {
      try root.write("x", as: "inbox/" + name)
      if name != ".darkroom-add-new" { utimensat(AT_FDCWD, root.file("inbox/" + name), old, 0) }
    }
    try root.makeFolder("inbox/.darkroom-add-folder")
    try root.link("inbox/.darkroom-add-link", to: root.file("inbox/a.txt"))
    utimensat(AT_FDCWD, root.file("inbox/.darkroom-add-folder"), old, 0)
    utimensat(AT_FDCWD, root.file("inbox/.darkroom-add-link"), old, AT_SYMLINK_NOFOLLOW)
    let isRoot = chown(root.file("inbox/.darkroom-add-theirs"), 65534, 65534) == 0
    _ = try scan(watcher)
    let left = try Set(root.names(in: "inbox")).subtracting([Inbox.instanceFile])
    let kept = stay + [".darkroom-add-folder", ".darkroom-add-link"] + (isRoot ? [".darkroom-add-theirs"] : [])
    #expect(left == Set(kept))
  }
}
