import Glibc
import Scheduling
import System
import Testing

@Suite struct SettlingTests {
  typealias File = (name: FileName, identity: FileIdentity)

  private var settling = Settling(time: 2)
  /// Nanoseconds since 1970, at second 0 of the clock that never jumps.
  private static let start = 1_700_000_000 * 1_000_000_000

  private static func manifest(
    _ file: String = "a.txt", inode: UInt = 1, size: Int = 10, modified: Double = 0, changed: Double? = nil
  ) -> File {
    var status = stat()
    status.st_ino = inode
    status.st_size = size
    status.st_mtim = time(modified)
    status.st_ctim = time(changed ?? modified)
    return (FileName(file), FileIdentity(status))
  }

  private static func time(_ seconds: Double) -> timespec {
    let time = start + Int(seconds * 1e9)
    return timespec(tv_sec: time / 1_000_000_000, tv_nsec: time % 1_000_000_000)
  }

  private mutating func isSettled(
    _ manifest: File, at now: Double, clock: Double? = nil, writers: OpenFile.Writers = .unknown
  ) -> Bool {
    !settling.settled([manifest], now: now, wallClock: Double(Self.start) / 1e9 + (clock ?? now)) { _ in writers }
      .isEmpty
  }

  @Test(
    "a file whose mtime and ctime are older than the settling time is not waited for",
    arguments: [(-2.0, -2.0, true), (-1.9, -1.9, false), (-3600, -1.9, false), (-1.9, -3600, false)])
  mutating func old(modified: Double, changed: Double, isOld: Bool) {
    let found = isSettled(Self.manifest(modified: modified, changed: changed), at: 0)
    #expect(found == isOld)
  }

  @Test("a file that nobody has open for writing is settled, however new; one that somebody has is not, however old")
  mutating func writers() {
    let (new, old) = (Self.manifest("new", modified: 3600), Self.manifest("old", modified: -3600))
    settling.note(.complete(FileName("old")))
    let found = (isSettled(new, at: 0, writers: .nobody), isSettled(old, at: 0, writers: .somebody))
    #expect(found == (true, false))
    let later = isSettled(old, at: 3600, writers: .somebody)
    let closed = isSettled(old, at: 3600, writers: .nobody)
    #expect((later, closed) == (false, true))
  }

  @Test mutating func `a file that is not old enough is examined when it is, and not again and again after that`()
    throws
  {
    _ = isSettled(Self.manifest(modified: 0), at: 0, writers: .unknown)
    let wait = try #require(settling.recheck(now: 0))
    #expect(wait > 0.02)
    // No scan has found it since, because the folder cannot be read.
    #expect(settling.recheck(now: wait + 1) == nil)
  }

  @Test("who writes is asked until a file is settled, and again when it has changed or is doubted")
  mutating func asked() {
    let manifest = Self.manifest(modified: 0)
    let found = [
      isSettled(manifest, at: 0, writers: .nobody), isSettled(manifest, at: 0, writers: .somebody),
      isSettled(Self.manifest(size: 11, modified: 0), at: 0, writers: .somebody),
    ]
    #expect(found == [true, true, false])
    _ = isSettled(manifest, at: 0, writers: .nobody)
    settling.recheck(FileName("a.txt"))
    let doubted = isSettled(manifest, at: 0, writers: .somebody)
    #expect(!doubted)
  }

  @Test("how long a file has been open is known until it is closed")
  mutating func open() {
    _ = isSettled(Self.manifest(modified: 0), at: 5, writers: .somebody)
    _ = isSettled(Self.manifest(size: 11, modified: 1), at: 9, writers: .somebody)
    let open = [0.0, 9, 10, 11].map { settling.open(for: $0, now: 15) }
    _ = isSettled(Self.manifest(size: 11, modified: 1), at: 16, writers: .nobody)
    let closed = settling.open(for: 0, now: 16)
    let name: Set = [FileName("a.txt")]
    #expect(open == [name, name, name, []] && closed == [])
  }

  @Test("a file that is open is looked at again soon, and less often the longer it stays open")
  mutating func recheck() {
    let none = settling.recheck(now: 0)
    _ = isSettled(Self.manifest(modified: 0), at: 0, writers: .somebody)
    // What is written meanwhile does not make it new.
    _ = isSettled(Self.manifest(size: 11, modified: 1), at: 1, writers: .somebody)
    let open = [0, 0.5, 8].map { settling.recheck(now: $0) }
    _ = isSettled(Self.manifest(size: 11, modified: 1), at: 9, writers: .nobody)
    let closed = settling.recheck(now: 9)
    #expect(none == nil && open == [0.02, 0.5, 8] && closed == nil)
  }

  @Test("on a network file system neither notices nor leases count, and 10 s are the least", arguments: [2.0, 10, 11])
  mutating func network(time: Double) {
    let least = max(time, 10)
    settling.time = time
    settling.isOnNetwork = true
    settling.note(.complete(FileName("a.txt")))
    let manifest = Self.manifest(modified: 3600)
    let found = [0, least - 0.1, least].map { isSettled(manifest, at: $0, writers: .nobody) }
    #expect(found == [false, false, true])
    let old = [0.1 - least, -least].map { isSettled(Self.manifest("\($0)", modified: $0), at: 0, writers: .somebody) }
    #expect(old == [false, true])
  }

  @Test("a fresh file is settled when it was seen unchanged for the settling time, whatever its mtime says")
  mutating func unchanged() {
    let manifest = Self.manifest(modified: 3600)
    let found = [0, 1, 1.9, 2, 3].map { isSettled(manifest, at: $0) }
    #expect(found == [false, false, false, true, true])
  }

  @Test(
    "any change of device, inode, size, mtime or ctime begins the wait anew",
    arguments: [
      Self.manifest(inode: 2, modified: 3600), Self.manifest(size: 11, modified: 3600),
      Self.manifest(modified: 3601, changed: 3600),
      Self.manifest(modified: 3600, changed: 3601),
    ])
  mutating func changed(changed: File) {
    let found = (
      isSettled(Self.manifest(modified: 3600), at: 0), isSettled(changed, at: 1.9), isSettled(changed, at: 3.8),
      isSettled(changed, at: 3.9)
    )
    #expect(found == (false, false, false, true))
  }

  @Test("a file that the kernel reports as complete is not waited for, one that is written again is")
  mutating func notices() {
    let manifest = Self.manifest(modified: 0)
    settling.note(.begun(FileName("a.txt")))
    let begun = isSettled(manifest, at: 0)
    settling.note(.complete(FileName("a.txt")))
    let complete = isSettled(manifest, at: 0.1)
    settling.note(.begun(FileName("a.txt")))
    let again = isSettled(Self.manifest(size: 20, modified: 0.2), at: 0.2)
    settling.note(.complete(FileName("b.txt")))
    let other = isSettled(Self.manifest(size: 20, modified: 0.2), at: 0.3)
    #expect((begun, complete, again, other) == (false, true, false, false))
  }

  @Test("when notices were lost, none of the earlier ones is believed")
  mutating func lost() {
    settling.note(.complete(FileName("a.txt")))
    settling.note(.lost)
    let found = isSettled(Self.manifest(modified: 0), at: 0)
    #expect(!found)
  }

  @Test("a file that went away is forgotten, with what the kernel said of it")
  mutating func gone() {
    settling.note(.complete(FileName("a.txt")))
    _ = isSettled(Self.manifest(modified: 3600), at: 0)
    _ = settling.settled([], now: 1, wallClock: Double(Self.start) / 1e9) { _ in .unknown }
    let found = isSettled(Self.manifest(modified: 3600), at: 2.5)
    #expect(!found)
  }

  @Test("a wall clock that jumps back by a day does not keep a file waiting")
  mutating func clockBack() {
    let manifest = Self.manifest(modified: 0)
    let found = (isSettled(manifest, at: 0, clock: 0), isSettled(manifest, at: 2, clock: -86_400))
    #expect(found == (false, true))
  }

  @Test("each file is settled by itself")
  mutating func several() {
    let files = ["b.txt", "a.txt", "c.txt"].map { Self.manifest($0, modified: 0) }
    settling.note(.complete(FileName("c.txt")))
    settling.note(.complete(FileName("b.txt")))
    let found = settling.settled(files, now: 0, wallClock: Double(Self.start) / 1e9) { _ in .unknown }
    #expect(found == [0, 2])
  }

  @Test(
    "a file is examined again when it is old enough, by its times or since it was seen",
    arguments: [(-0.5, 1.5), (3600, 2)])
  mutating func examinedAgain(modified: Double, wait: Double) throws {
    _ = isSettled(Self.manifest(modified: modified), at: 0)
    let due = try #require(settling.recheck(now: 0))
    #expect(abs(due - wait) < 0.001)
    #expect(isSettled(Self.manifest(modified: modified), at: wait + 0.001))
    #expect(settling.recheck(now: wait + 0.001) == nil)
  }
}
