import Ledger
import Testing

@testable import Darkroom

@Suite struct PauseLogTests {
  private var log = PauseLog()

  private func pause(_ lock: String, _ began: Int, _ ended: Int? = nil, reason: String? = nil) -> LedgerPause {
    LedgerPause(cause: "lock", lock: lock, reason: reason, began: began, ended: ended)
  }

  private func pause(_ began: Int, _ ended: Int? = nil) -> LedgerPause { pause("a.lock", began, ended) }

  @Test mutating func `a lock that flickers is one pause, from its first beginning to its last end`() {
    var changed: Set<Int> = []
    for toggle in 0..<448 {
      changed.insert(log.record(pause(1000 + toggle * 100))?.began ?? -1)
      #expect(log.pauses.last?.ended == nil)
      changed.insert(log.record(pause(1000 + toggle * 100, 1050 + toggle * 100))?.began ?? -1)
    }
    #expect(log.pauses == [pause(1000, 1050 + 447 * 100)])
    #expect(changed == [1000], "the ledger has one row, too")
  }

  @Test mutating func `pauses that are further apart are pauses of their own, each with its end`() {
    for began in [0, 5000, 10_000] {
      _ = log.record(pause(began))
      _ = log.record(pause(began, began + 3000))
    }
    #expect(log.pauses == [pause(0, 3000), pause(5000, 8000), pause(10_000, 13_000)])
  }

  @Test mutating func `several locks at the same time are kept apart, and so are causes`() {
    _ = log.record(pause("a.lock", 0))
    _ = log.record(pause("b.lock", 10))
    _ = log.record(LedgerPause(cause: "disk", lock: "", reason: "full", began: 20))
    _ = log.record(pause("a.lock", 0, 100))
    _ = log.record(pause("a.lock", 200, reason: "why"))
    #expect(log.pauses.map(\.lock) == ["a.lock", "b.lock", ""])
    #expect(log.pauses[0] == pause("a.lock", 0, reason: "why"))
  }

  @Test mutating func `however long it goes on, there are not more pauses than the limit`() {
    for number in 0..<1000 {
      _ = log.record(pause(number * 10_000))
      _ = log.record(pause(number * 10_000, number * 10_000 + 5000))
    }
    #expect(log.pauses.count == PauseLog.limit)
    #expect(log.pauses.last?.ended == 9_995_000)
  }

  @Test mutating func `a pause within another of its lock ends neither`() {
    _ = log.record(pause(0, 9000))
    _ = log.record(pause(1000, 2000))
    #expect(log.pauses == [pause(0, 9000)])
  }

  @Test mutating func `what comes late is put where it belongs`() {
    _ = log.record(pause("b.lock", 9000, 9500))
    _ = log.record(pause("a.lock", 1000, 1500))
    #expect(log.pauses.map(\.began) == [1000, 9000])
  }

  @Test mutating func `pauses that began at once stay in the order in which they were recorded`() {
    for lock in ["b", "c", "a", "d"] { _ = log.record(pause(lock, 1000)) }
    for lock in ["d", "b"] { _ = log.record(pause(lock, 1000, 9000)) }
    _ = log.record(pause("e", 500))
    #expect(log.pauses.map(\.lock) == ["e", "b", "c", "a", "d"])
    #expect(log.pauses.map(\.ended) == [nil, 9000, nil, nil, 9000])
  }

  @Test mutating func `of many locks a thousand pauses are kept, with their ends`() {
    for number in 0..<1500 {
      let isKept = log.record(pause("\(number).lock", number)) != nil
      #expect(isKept == (number < PauseLog.totalLimit))
      _ = log.record(pause("\(number).lock", number, 9000))
    }
    #expect(log.pauses.count == PauseLog.totalLimit && log.pauses.allSatisfy { $0.ended == 9000 })
  }
}
