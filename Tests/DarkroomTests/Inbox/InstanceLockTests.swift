import Foundation
import Glibc
import Synchronization
import System
import Testing
import TestSupport

@testable import Inbox
@testable import Model

@Suite(.blocking) struct InstanceLockTests {
  private let folder: TemporaryFolder
  private let elsewhere: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    elsewhere = try TemporaryFolder()
    try elsewhere.write("precious", as: "file")
  }

  private func take(isHostile: Bool = false) throws -> InstanceLock {
    try InstanceLock("instance", in: OpenFolder(folder.path), of: "the inbox", isHostile: isHostile)
  }

  /// Takes a lock that was released just now.
  private func takeAgain(isHostile: Bool = false) throws -> InstanceLock {
    try eventually({ try? take(isHostile: isHostile) }, is: { $0 != nil }) ?? take(isHostile: isHostile)
  }

  private func expectBusy(_ place: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: StopError.self, sourceLocation: place) { try take() }
    #expect(error?.description == "another instance owns the inbox: process \(getpid())", sourceLocation: place)
  }

  @Test("an instance's lock is had by one, told with its process, and free when it is released")
  func instanceLock() throws {
    do {
      let first = try take()
      withExtendedLifetime(first) { expectBusy() }
    }
    _ = try takeAgain()
  }

  @Test func `only its owner may open the file, also one of an earlier version`() throws {
    try folder.write("1\n", as: "instance")
    #expect(chmod(folder.file("instance"), 0o644) == 0)
    let lock = try take()
    #expect(try !FileStatus(of: folder.file("instance")).isOpenToOthers)
    withExtendedLifetime(lock) { expectBusy() }
  }

  @Test(arguments: ["removed", "replaced", "a link"])
  func `no second instance begins when the file is removed`(how: String) throws {
    let first = try take()
    try Folder.removeFile(folder.file("instance"))
    if how == "replaced" { try folder.write("1\n", as: "instance") }
    if how == "a link" { try folder.link("instance", to: elsewhere.file("file")) }
    withExtendedLifetime(first) { expectBusy() }
    #expect(elsewhere.text("file") == "precious")
  }

  @Test func `who could open the file for reading and holds its lock keeps no instance off`() throws {
    try folder.write("1\n", as: "instance")
    let reader = try OpenFile(reading: folder.file("instance"))
    var held = flock(l_type: Int16(F_RDLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
    #expect(withUnsafeMutablePointer(to: &held) { fcntl(reader.descriptor, 37 /* F_OFD_SETLK */, $0) } == 0)
    let first = try take()
    withExtendedLifetime((first, reader)) { expectBusy() }
    #expect(try folder.names() == ["instance"])
    #expect(try !FileStatus(of: folder.file("instance")).isOpenToOthers)
  }

  @Test func `a file that has another name is not written to`() throws {
    try folder.write("precious", as: "other")
    #expect(chmod(folder.file("other"), 0o644) == 0)
    #expect(link(folder.file("other"), folder.file("instance")) == 0)
    let lock = try take()
    withExtendedLifetime(lock) { expectBusy() }
    #expect(folder.text("other") == "precious")
    #expect(try FileStatus(of: folder.file("other")).isOpenToOthers)
    #expect(try folder.names() == ["instance", "other"])
  }

  enum Obstacle: CaseIterable { case link, dangling, folder, pipe, othersFile }

  private func put(_ obstacle: Obstacle) throws {
    let path = folder.file("instance")
    switch obstacle {
    case .link: try folder.link("instance", to: elsewhere.file("file"))
    case .dangling: try folder.link("instance", to: elsewhere.file("new"))
    case .folder: try folder.makeFolder("instance")
    case .pipe: #expect(mkfifo(path, 0o666) == 0)
    case .othersFile:
      try folder.write("precious", as: "instance")
      #expect(chown(path, 65534, 65534) == 0)
    }
  }

  @Test(arguments: Obstacle.allCases)
  func `what has the file's name and is none of ours is refused, and unchanged; where others may write it stops nobody`(
    obstacle: Obstacle
  ) throws {
    if obstacle == .othersFile, geteuid() != 0 { return }
    try put(obstacle)
    let before = try FileStatus(of: folder.file("instance")).identity
    #expect(throws: SystemError.self) { try take() }
    let lock = try takeAgain(isHostile: true)
    #expect(lock.trouble?.contains(folder.file("instance")) == true)
    withExtendedLifetime(lock) { expectBusy() }
    #expect(try FileStatus(of: folder.file("instance")).identity == before)
    #expect(try elsewhere.names() == ["file"] && elsewhere.text("file") == "precious")
  }

  @Test func `of many that begin at once one gets it, also while the file is removed again and again`() throws {
    let counts = Mutex((inside: 0, most: 0))
    let path = folder.path
    DispatchQueue.concurrentPerform(iterations: 8) { number in
      for _ in 0..<100 {
        if number == 0 {
          unlink(path + "/instance")
        } else if let folder = try? OpenFolder(path), let lock = try? InstanceLock("instance", in: folder) {
          counts.withLock {
            $0.inside += 1
            $0.most = max($0.most, $0.inside)
          }
          counts.withLock { $0.inside -= 1 }
          withExtendedLifetime(lock) {}
        }
      }
    }
    #expect(counts.withLock { $0.most } == 1)
  }
}
