import Testing

@testable import Darkroom
@testable import Model

@Suite struct HoldsTests {
  private var holds = Holds()

  @Test mutating func `when many entries wait for the machine no other starts before the first of them is due`() {
    for position in 0..<Holds.entryLimit {
      #expect(!holds.isFull(now: 0))
      holds.hold(.entry(.init(run: position % 2, position: position)), "no descriptor", now: Double(position) / 1000)
    }
    #expect(holds.isFull(now: 0.9) && !holds.isFull(now: 1))
    holds.hold(.results(1), "no folder", now: 0)
    holds.releaseEntries(of: 1)
    #expect(!holds.isFull(now: 0.9))
    for position in 0..<Holds.entryLimit { holds.hold(.entry(.init(run: 0, position: position)), "again", now: 0.5) }
    #expect(holds.isFull(now: 1))
    holds.release(.entry(.init(run: 0, position: 3)))
    holds.release(.entry(.init(run: 0, position: 3)))
    #expect(!holds.isFull(now: 1))
  }

  @Test mutating func `what fails in a row waits longer, and begins anew when it has succeeded`() throws {
    var waits: [Double] = []
    for _ in 1...4 {
      holds.hold(.ending(1), "an error", now: 100)
      waits.append(try #require(holds[.ending(1)]).due - 100)
    }
    #expect(waits == waits.sorted() && Set(waits).count == 4 && holds[.ending(1)]?.since == 100)
    holds.release(.ending(1))
    holds.hold(.ending(1), "an error", now: 200)
    #expect(holds[.ending(1)]?.due == 200 + waits[0])
  }

  @Test mutating func `a reason is told once, until it is another one`() {
    let isNew = ["a", "a", "b", "b", "a"].map { holds.hold(.planning("job"), $0, now: 0) }
    #expect(isNew == [true, false, true, false, true])
  }

  @Test mutating func `what needs room waits for that, and no time`() {
    holds.hold(.planning("job"), "no room", space: 1000, now: 0)
    holds.free = 999
    #expect(holds.isHeld(.planning("job"), now: 9999) && holds.machineTrouble == nil)
    holds.free = 1000
    #expect(!holds.isHeld(.planning("job"), now: 0) && holds.nextDue { _ in true } == nil)
  }

  @Test mutating func `a manifest that cannot be moved is tried until its time is over`() {
    holds.hold(.ending(1), "no outbox", now: 0)
    for now in [50.0, 60, 70] { holds.hold(.ending(1), "no", isOfManifest: true, latest: 110, now: now) }
    #expect(holds[.ending(1)]?.since == 50 && (holds[.ending(1)]?.due ?? .infinity) <= 110)
    #expect(holds.machineTrouble == nil && holds.reason(ofRun: 1) == "no")
  }

  @Test mutating func `a run waits for what holds its end, its results or one of its entries`() {
    let (entry, other) = (PhotoRecord.ID(run: 1, position: 7), PhotoRecord.ID(run: 2, position: 7))
    holds.hold(.entry(entry), "entry", now: 0)
    holds.hold(.entry(other), "other", now: 0)
    #expect(holds.reason(ofRun: 1) == "entry" && holds.reason(ofRun: 3) == nil)
    holds.hold(.results(1), "results", now: 0)
    #expect(holds.reason(ofRun: 1) == "results")
    holds.hold(.ending(1), "report", now: 0)
    #expect(holds.reason(ofRun: 1) == "report" && holds.machineTrouble == "entry")
    holds.releaseEntries(of: 1)
    #expect(holds[.entry(entry)] == nil && holds[.results(1)] == nil && holds[.entry(other)] != nil)
    #expect(holds.reason(ofRun: 1) == "report")
  }
}
