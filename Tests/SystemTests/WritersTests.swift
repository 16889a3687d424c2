import Dispatch
import Glibc
import Synchronization
@testable import System
import TestSupport
import Testing

/// Who has a file open for writing.
@Suite struct WritersTests {
  private let folder: TemporaryFolder
  private let inbox: OpenFolder

  init() throws {
    folder = try TemporaryFolder()
    inbox = try OpenFolder(folder.path)
    try folder.write("x", as: "file")
  }

  private func expectNobody(_ file: OpenFile, _ place: SourceLocation = #_sourceLocation) {
    #expect(eventually({ file.writers }, is: { $0 == .nobody }) == .nobody, sourceLocation: place)
  }

  @Test func `a file has a writer as long as somebody has it open for writing, by any name`() throws {
    #expect(link(folder.file("file"), folder.file("other")) == 0)
    let file = try inbox.open(reading: "file")
    let reader = try inbox.open(reading: "file")
    expectNobody(file)
    #expect(file.hasNoWriter)
    do {
      let writer = try inbox.open(appending: "other")
      withExtendedLifetime((writer, reader)) { #expect(file.writers == .somebody && !file.hasNoWriter) }
    }
    expectNobody(file)
  }

  @Test func `of what has no leases nothing is known`() {
    #expect(OpenFile(adopting: dup(inbox.descriptor), path: "a folder").writers == .unknown)
  }

  /// The kernel signals the holder of a lease when somebody opens the file for writing. By default that ends the process.
  @Test func `who opens the file while it is asked does no harm and is not refused`() throws {
    let path = folder.file("file")
    let file = try inbox.open(reading: "file")
    let isOver = Atomic(false)
    let group = DispatchGroup()
    let refusals = Mutex(0)
    DispatchQueue.global().async(group: group) {
      while !isOver.load(ordering: .relaxed) {
        let opened = open(path, O_WRONLY | O_CLOEXEC)
        if opened < 0 { refusals.withLock { $0 += 1 } } else { close(opened) }
      }
    }
    for _ in 0..<20_000 { _ = file.writers }
    isOver.store(true, ordering: .relaxed)
    group.wait()
    #expect(refusals.withLock { $0 } == 0)
    expectNobody(file)
  }

  @Test(
    arguments: [
      (0x6969, true), (0xFE53_4D42, true), (0xFF53_4D42, true), (Int(Int32(bitPattern: 0xFF53_4D42)), true),
      (0x517B, true), (0x6573_5546, true), (0x0102_1997, true), (0x00C3_6400, true), (0x5346_414F, true),
      (0x0BD0_0BD0, true),
      // ext4, xfs, btrfs, zfs, tmpfs, overlayfs, f2fs, exFAT, one that does not exist.
      (0xEF53, false), (0x5846_5342, false), (0x9123_683E, false), (0x2FC1_2FC1, false), (0x0102_1994, false),
      (0x794C_7630, false), (0xF2F5_2010, false), (0x2011_BAB0, false), (0, false),
    ])
  func `network file systems are told by their types`(type: Int, isNetwork: Bool) {
    #expect((NetworkFileSystem(type: type) != nil) == isNetwork)
  }

  @Test func `a folder in memory is on no network`() throws {
    #expect(try !OpenFolder("/dev/shm").isOnNetwork)
  }
}
