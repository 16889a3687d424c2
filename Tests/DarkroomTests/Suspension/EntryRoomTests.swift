import Testing

@testable import Darkroom

@Suite struct EntryRoomTests {
  /// How many entries start beside one another.
  private func started(_ room: inout EntryRoom, free: Int, now: Int) -> Int {
    (0..<1000).first { !room.mayStart(inProgress: $0, now: now) { free } } ?? 1000
  }

  @Test(arguments: [(-1, 0), (0, 1), (8 << 20, 1), (20 << 20, 2), (80 << 20, 10), (Int.max, 1000)])
  func `as many entries start as there is room for, and one as long as anything is free`(free: Int, count: Int) {
    var room = EntryRoom()
    #expect(started(&room, free: free, now: 0) == count)
  }

  @Test func `what entries take is learned, more at once and less slowly, and reused results say nothing`() {
    var room = EntryRoom()
    room.entryEnded(bytes: 20 << 20)
    #expect(started(&room, free: 80 << 20, now: 0) == 4)
    for _ in 0..<100 { room.entryEnded(bytes: 1 << 20) }
    for _ in 0..<100 { room.entryEnded(bytes: 0) }
    #expect(started(&room, free: 80 << 20, now: 20) == 79)
  }

  @Test func `the disk is looked at again after a while`() {
    var room = EntryRoom()
    var looks = 0
    for now in [0, 5, 19, 20, 39, 40] {
      _ = room.mayStart(inProgress: 0, now: now) {
        looks += 1
        return 0
      }
    }
    #expect(looks == 3)
  }
}
