import Testing

@testable import Darkroom

@Suite struct GateTests {
  @Test(arguments: [
    (Gate(), Gate.Entries.all), (Gate(isPaused: true), .none), (Gate(isShortOfMemory: true), .none),
    (Gate(awaitsRoom: true), .none), (Gate(isShortOfSpace: true), .all), (Gate(wasRefused: true), .all),
    (Gate(isPaused: true, isShortOfMemory: true, allowsOne: true), .one),
    (Gate(isPaused: true, isShortOfMemory: true, allowsOne: true, awaitsRoom: true), .none),
    (Gate(stop: .outOfTime), .none),
    (Gate(stop: .asked, isPaused: true, isShortOfMemory: true, allowsOne: true), .none),
  ])
  func `entries start unless something is in the way, and one at a time when memory stays scarce`(
    gate: Gate, entries: Gate.Entries
  ) {
    #expect(gate.entries == entries)
  }

  @Test func `jobs are planned during a pause, but not while the disk has no room`() {
    #expect(Gate(isPaused: true).mayPlan && Gate(isPaused: true, isShortOfMemory: true).mayPlan)
    for gate in [Gate(isShortOfSpace: true), Gate(wasRefused: true), Gate(stop: .asked), Gate(stop: .outOfTime)] {
      #expect(!gate.mayPlan)
    }
  }

  @Test func `reports are written when the time is over, and not when the program is told to stop`() {
    #expect(Gate(stop: .outOfTime).mayReport && !Gate(stop: .outOfTime).mayClose)
    #expect(!Gate(stop: .asked).mayReport && !Gate(stop: .outOfTime, wasRefused: true).mayReport)
    #expect(Gate(isPaused: true, isShortOfSpace: true).mayReport)
  }

  @Test func `a run is cancelled also while its rows cannot be written, and queues that end are not suspended`() {
    #expect(Gate(isPaused: true, isShortOfSpace: true, wasRefused: true).mayCancel && !Gate(stop: .asked).mayCancel)
    #expect(Gate(isPaused: true).suspendsQueues && !Gate(stop: .asked, isPaused: true).suspendsQueues)
  }
}
