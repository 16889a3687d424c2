import Scheduling
import Testing

@testable import Model
@testable import Operations

@Suite struct QueueRoomTests {
  private func room(
    _ window: DownloadWindow = DownloadWindow(fixed: 3), descriptors: Int = 1 << 16, slowAfter period: Int = 60_000
  ) -> QueueRoom {
    QueueRoom(
      window: window, filtrations: 2, slow: DownloadPace.Limit(bytesPerSecond: 1000, period: period),
      descriptors: descriptors)
  }

  /// Starts entries as long as one of a priority may be admitted.
  private func fill(
    _ room: inout QueueRoom, _ priority: Entry.Priority, isDownloaded: Bool = false, held: Int = 0
  ) -> Int {
    var count = 0
    while let lowest = room.lowestPriority(held: held + count), lowest >= priority.rank {
      room.started(rank: priority.rank)
      if isDownloaded { room.downloadEnded(rank: priority.rank, bytes: 0, wasSlow: false) }
      count += 1
    }
    return count
  }

  @Test func `lower priorities take no room from higher ones`() {
    var room = room()
    #expect(fill(&room, .low) == 7)
    #expect(fill(&room, .low) == 0)
    #expect(fill(&room, .high) == 7)
    #expect(room.lowestPriority(held: 14) == Entry.Priority.veryHigh.rank)
    #expect(fill(&room, .veryHigh) == 7)
    #expect(room.lowestPriority(held: 21) == nil)
    room.downloadEnded(rank: Entry.Priority.veryHigh.rank, bytes: 1, wasSlow: false)
    #expect(room.lowestPriority(held: 21) == Entry.Priority.veryHigh.rank)
  }

  @Test func `what is downloaded counts until it is removed, and then others are admitted together`() {
    var room = room()
    #expect(fill(&room, .normal, isDownloaded: true) == 18)
    for left in [0, 0, 3] {
      room.remove(rank: Entry.Priority.normal.rank, bytes: 0)
      #expect(fill(&room, .normal, isDownloaded: true) == left)
    }
  }

  @Test func `an urgent entry does not wait until others have left a full window`() {
    var room = room()
    #expect(fill(&room, .normal, isDownloaded: true) == 18)
    room.remove(rank: Entry.Priority.normal.rank, bytes: 0)
    #expect(room.lowestPriority(held: 17) == Entry.Priority.high.rank)
    #expect(fill(&room, .high, isDownloaded: true) == 18)
  }

  @Test func `a window that is full has room when the limit of downloads grows`() {
    var room = room(DownloadWindow(upTo: 256))
    #expect(fill(&room, .normal, isDownloaded: true) == 44)
    room.remove(rank: Entry.Priority.normal.rank, bytes: 0)
    #expect(room.lowestPriority(held: 43) == Entry.Priority.high.rank)
    room.update(silent: 3, now: 0)
    #expect(room.lowestPriority(held: 43) == Entry.Priority.veryLow.rank)
  }

  @Test func `nothing is admitted while 256 MiB wait for their filtration`() {
    var room = room()
    room.started(rank: Entry.Priority.normal.rank)
    room.downloadEnded(rank: Entry.Priority.normal.rank, bytes: 256 << 20, wasSlow: false)
    #expect(room.lowestPriority(held: 1) == Entry.Priority.high.rank)
    room.remove(rank: Entry.Priority.normal.rank, bytes: 256 << 20)
    #expect(room.lowestPriority(held: 0) == Entry.Priority.veryLow.rank)
  }

  @Test func `entries beyond the descriptors are admitted at no priority`() {
    var room = room(descriptors: 64 + 4 * 10)
    #expect(room.lowestPriority(held: 10) == nil)
    #expect(fill(&room, .veryHigh, held: 8) == 2)
  }

  @Test func `others run beside downloads that wait for silent hosts, up to the most, unless the number is fixed`() {
    var room = room(DownloadWindow(upTo: 256))
    for (silent, limit) in [(5, 21), (5, 21), (1000, 256), (0, 16)] {
      let (wasOther, isChange) = (room.limits.downloads != limit, room.update(silent: silent, now: 0))
      #expect(isChange == wasOther)
      #expect(room.limits == (limit, 2))
    }
    var fixed = self.room()
    let isChange = fixed.update(silent: 5, now: 0)
    #expect(!isChange)
  }

  @Test func `others run beside slow downloads, as long as those last`() {
    var room = room()
    room.slow.succeeded(bytes: 1, milliseconds: 1, now: 0)
    for _ in 0..<2 {
      room.started(rank: Entry.Priority.normal.rank)
      room.slow.began()
    }
    room.update(now: 1)
    #expect(room.limits.downloads == 5)
    room.downloadEnded(rank: Entry.Priority.normal.rank, bytes: 1, wasSlow: true)
    room.update(now: 1)
    #expect(room.limits.downloads == 4 && room.slow.count == 1)
  }

  @Test(arguments: [(60_000, 5000), (60, 20)])
  func `slow downloads are looked for twelve times in a period, while something is downloaded`(period: Int, wait: Int) {
    var room = room(slowAfter: period)
    #expect(room.nextPaceCheck == nil)
    #expect(room.beginPaceCheck(now: 100) == nil)
    room.started(rank: Entry.Priority.normal.rank)
    #expect(room.beginPaceCheck(now: 100)?.period == period)
    #expect(room.nextPaceCheck == 100 + wait)
    #expect(room.beginPaceCheck(now: 99 + wait) == nil)
    room.downloadEnded(rank: Entry.Priority.normal.rank, bytes: 1, wasSlow: false)
    #expect(room.nextPaceCheck == nil)
  }
}
