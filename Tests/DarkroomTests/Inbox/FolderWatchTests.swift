import Foundation
import Glibc
import System
import Testing
import TestSupport

@testable import Inbox

@Suite(.blocking) struct FolderWatchTests {
  private let folder: TemporaryFolder
  private let watch: FolderWatch

  init() throws {
    folder = try TemporaryFolder()
    watch = FolderWatch(folder: folder.path)
  }

  @Test("a file is begun while it is written, complete once it is closed, and begun when it is written again")
  func writing() throws {
    let file = try OpenFile(creating: folder.file("a.txt"))
    try file.write("x")
    #expect(watch.notices().allSatisfy { $0 == .begun(FileName("a.txt")) })
    do {
      let second = try OpenFolder(folder.path).open(updating: "a.txt")
      try second.write("y")
    }
    #expect(watch.notices().last == .complete(FileName("a.txt")))
    try file.write("z")
    #expect(watch.notices() == [.begun(FileName("a.txt"))])
  }

  @Test("a file that is renamed in is complete; one that goes away is not")
  func renaming() throws {
    let elsewhere = try TemporaryFolder()
    try Folder.rename(elsewhere.write("x", as: "a.txt"), to: folder.file("ä 日.txt"))
    #expect(watch.notices() == [.complete(FileName("ä 日.txt"))])
    try Folder.rename(folder.file("ä 日.txt"), to: elsewhere.file("b"))
    #expect(watch.notices() == [.begun(FileName("ä 日.txt"))])
  }

  @Test("the descriptor is readable when there are notices, and not when they were taken")
  func readable() throws {
    #expect(isReadable == false)
    try folder.write("x", as: "a.txt")
    #expect(isReadable)
    _ = watch.notices()
    #expect(isReadable == false)
    #expect(watch.notices().isEmpty)
  }

  @Test("notices for more files than one read holds all come")
  func many() throws {
    for number in 0..<3000 {
      try folder.write("", as: "a rather long name so that the notices take room \(number).txt")
    }
    let complete = watch.notices().filter { if case .complete = $0 { true } else { false } }
    #expect(complete.count == 3000)
  }

  @Test("a folder that cannot be watched gives no notices and no descriptor")
  func missing() {
    let watch = FolderWatch(folder: folder.file("missing"))
    #expect(watch.descriptor == -1)
    #expect(watch.notices().isEmpty)
  }

  @Test(
    "only a notice of a lock has the inbox scanned at once",
    arguments: [
      (FolderNotice.complete(FileName("pause.lock")), true), (.begun(FileName(".x.LOCK")), true),
      (.begun(FileName("lock")), true), (.begun(FileName("a.txt")), false), (.complete(FileName("a.txt")), false),
      (.lost, false),
    ])
  func locks(notice: FolderNotice, isUrgent: Bool) {
    #expect(notice.isAboutLock == isUrgent)
  }

  private var isReadable: Bool {
    var descriptor = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, 0) == 1
  }
}
