import Testing

@testable import Scheduling

@Suite struct DeferredQueueTests {
  private var queue = DeferredQueue()

  private mutating func insert(_ position: Int, due: Int) {
    queue.insert(DeferredEntry(position: position, attempts: 1, due: due, firstTried: 0))
  }

  /// The positions of what is due; the host of a position is given by `host`.
  private mutating func take(_ now: Int, host: (Int) -> Int = { _ in 1 }) -> [Int] {
    var taken: [Int] = []
    repeat {
      taken += queue.takeDue(now: now) { (host($0), EntryKey(priority: 2, position: $0)) }.map(\.entry.position)
    } while queue.nextChange.map { $0 <= now } ?? false
    return taken
  }

  @Test func `an entry takes 24 bytes`() {
    #expect(MemoryLayout<DeferredEntry>.stride == 24)
  }

  @Test mutating func `entries come when they are due, the earliest first, and count until they start`() {
    for (position, due) in [(0, 300), (1, 100), (2, 200), (3, 100)] { insert(position, due: due) }
    #expect(queue.count == 4)
    #expect(queue.nextChange == 100)
    #expect(take(99) == [])
    #expect(take(100) == [1, 3])
    #expect(queue.count == 4 && queue.nextDue == 200)
    queue.started(1)
    queue.started(1)
    #expect(queue.count == 3, "an entry starts once")
    #expect(take(1000) == [2, 0])
    for position in [3, 2, 0] { queue.started(position) }
    #expect(queue.count == 0 && queue.nextChange == nil)
  }

  @Test mutating func `all entries are known that have not started, whether due or not`() {
    for position in 0..<100 { insert(position, due: position < 50 ? 100 : 200) }
    #expect(take(100).count == DeferredQueue.limitPerHost, "the others of the host wait for these")
    queue.started(7)
    #expect(queue.entries.count == queue.count)
    #expect(Set(queue.entries.map(\.position)) == Set(0..<100).subtracting([7]))
    #expect(queue.entries.allSatisfy { $0.due == ($0.position < 50 ? 100 : 200) })
  }

  @Test mutating func `those of a host with enough of them wait, those of others do not`() {
    let many = 10 * DeferredQueue.limitPerHost
    for position in 0..<many { insert(position, due: position) }
    insert(many, due: many)
    let host = { $0 < many ? 1 : 2 }
    #expect(take(many, host: host) == Array(0..<DeferredQueue.limitPerHost) + [many])
    #expect(queue.nextChange == nil, "nothing changes before one starts")
    #expect(queue.count == many + 1)
    queue.started(many)
    #expect(take(many, host: host) == [])
    queue.started(0)
    queue.started(1)
    #expect(queue.nextChange == many, "when the next became due, at the latest")
    #expect(take(many, host: host) == [DeferredQueue.limitPerHost, DeferredQueue.limitPerHost + 1])
    var left = many - 2
    var position = 2
    while left > 0 {
      queue.started(position)
      position += 1
      left -= 1
      _ = take(many, host: host)
    }
    #expect(queue.count == 0)
  }

  @Test mutating func `so many are handed out at once at most, whatever their hosts`() {
    let many = DeferredQueue.limit + 100
    for position in 0..<many { insert(position, due: 0) }
    #expect(take(0, host: { $0 }).count == DeferredQueue.limit)
    #expect(queue.nextChange == nil)
    #expect(queue.count == many)
    for position in 0..<60 { queue.started(position) }
    #expect(queue.nextChange == 0)
    #expect(take(0, host: { $0 }) == Array(DeferredQueue.limit..<DeferredQueue.limit + 60))
  }

  @Test mutating func `one call looks at a page of entries, however many are due`() {
    let many = 3 * DeferredQueue.pageSize + 1
    for position in 0..<many { insert(position, due: position) }
    var pages: [Int] = []
    while let change = queue.nextChange, change <= many {
      var page = 0
      _ = queue.takeDue(now: many) {
        page += 1
        return (1, EntryKey(priority: 2, position: $0))
      }
      pages.append(page)
    }
    #expect(pages == [DeferredQueue.pageSize, DeferredQueue.pageSize, DeferredQueue.pageSize, 1])
    #expect(queue.count == many)
  }

  @Test mutating func `an entry that is not there is forgotten`() {
    insert(0, due: 0)
    #expect(queue.takeDue(now: 0) { _ in nil }.isEmpty)
    #expect(queue.count == 0)
  }
}
