import Foundation
import Glibc
import TestSupport
import Testing

@testable import Darkroom

@Suite struct FolderWatchTests {
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
    #expect(watch.notices().allSatisfy { $0 == .begun("a.txt") })
    do {
      let second = try OpenFile(updating: folder.file("a.txt"))
      try second.write("y")
    }
    #expect(watch.notices().last == .complete("a.txt"))
    try file.write("z")
    #expect(watch.notices() == [.begun("a.txt")])
  }

  @Test("a file that is renamed in is complete; one that goes away is not")
  func renaming() throws {
    let elsewhere = try TemporaryFolder()
    try Folder.rename(elsewhere.write("x", as: "a.txt"), to: folder.file("ä 日.txt"))
    #expect(watch.notices() == [.complete("ä 日.txt")])
    try Folder.rename(folder.file("ä 日.txt"), to: elsewhere.file("b"))
    #expect(watch.notices() == [.begun("ä 日.txt")])
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

  private var isReadable: Bool {
    var descriptor = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, 0) == 1
  }
}
