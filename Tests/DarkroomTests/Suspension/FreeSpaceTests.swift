import Testing

@testable import Darkroom

@Suite struct FreeSpaceTests {
  /// The free bytes of two folders, and how often the cache was cleared.
  private final class Disk {
    var free = ["out": 500, "state": 500]
    var clearings = 0
  }

  private let disk = Disk()

  private func space(minFree: Int = 100) -> FreeSpace {
    FreeSpace(outbox: "out", state: "state", minFree: minFree, read: { [disk] in disk.free[$0] ?? .max }) { [disk] in
      disk.clearings += 1
    }
  }

  @Test(arguments: [("out", "outbox"), ("state", "state folder")])
  func `low disk space clears the cache, and suspends the queues only when that was not enough`(
    folder: String, name: String
  ) {
    var space = space()
    #expect(space.check() == nil)
    #expect(!space.awaitsRoom && disk.clearings == 0)
    disk.free[folder] = 99
    for _ in 0..<2 {
      #expect(space.check() == nil)
      #expect(space.awaitsRoom && disk.clearings == 1)
    }
    #expect(!space.needsScan)
    space.cacheWasCleared()
    #expect(space.needsScan)
    #expect(space.check() == "99 bytes free in the \(name), and --min-free is 100 bytes")
    #expect(!space.awaitsRoom && disk.clearings == 1)
    #expect(space.check() != nil)
    #expect(disk.clearings == 2)
    disk.free[folder] = 100
    #expect(space.check() == nil)
    #expect(!space.awaitsRoom)
  }

  @Test func `the queues are not suspended when clearing the cache made room`() {
    var space = space()
    disk.free["out"] = 0
    #expect(space.check() == nil)
    disk.free["out"] = 100
    space.cacheWasCleared()
    #expect(space.check() == nil)
    #expect(!space.awaitsRoom)
  }

  @Test func `the cache is not cleared while it is being cleared`() {
    var space = space()
    for _ in 0..<2 { space.clearCache() }
    #expect(disk.clearings == 1)
    space.cacheWasCleared()
    space.clearCache()
    #expect(disk.clearings == 2)
  }

  @Test func `room for entries is what both file systems have beyond the bytes that are to remain free`() {
    var space = space(minFree: 100)
    disk.free = ["out": 100 + (24 << 20), "state": 100 + (16 << 20)]
    #expect(space.freeForState == 16 << 20)
    #expect([1, 2].map { space.hasRoom(besides: $0, now: 0) } == [true, false])
    #expect(!space.needsScan)
    disk.free["state"] = 99
    #expect([0].map { space.hasRoom(besides: $0, now: 20) } == [false])
    #expect(space.needsScan)
  }

  @Test func `without a limit there is always room, and a folder that cannot be read is taken to have some`() {
    var unlimited = space(minFree: 0)
    disk.free = ["out": 0, "state": 0]
    #expect(unlimited.check() == nil)
    #expect([1000].map { unlimited.hasRoom(besides: $0, now: 0) } == [true])
    var space = space()
    disk.free = [:]
    #expect(space.check() == nil)
    #expect([1000].map { space.hasRoom(besides: $0, now: 0) } == [true])
  }
}
