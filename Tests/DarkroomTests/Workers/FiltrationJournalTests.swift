import Foundation
import Imaging
import Synchronization
import System
import Testing
import TestSupport

@testable import Operations

/// A picture that ends the whole program costs its own row.
@Suite(.blocking) struct FiltrationJournalTests {
  private typealias Key = FiltrationJournal.Key

  private static let poison = FiltrationJournal.Key(runID: "run-1", position: 7)
  private static let innocent = FiltrationJournal.Key(runID: "run-1", position: 8)

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The journal as a new process finds it: what was entered and not left stays in the file.
  private func start(_ runs: Set<String> = ["run-1"]) throws -> FiltrationJournal {
    try FiltrationJournal(in: OpenFolder(folder.path), runs: runs)
  }

  @Test func `an entry that was inside a filtration at three ends of the program is a suspect`() throws {
    for _ in 1...3 {
      let journal = try start()
      #expect(!journal.isSuspect(Self.poison))
      _ = try journal.enter(Self.poison)
    }
    #expect(try start().isSuspect(Self.poison))
  }

  @Test func `what has left its filtration is not to blame`() throws {
    for _ in 1...3 {
      let journal = try start()
      let slot = try journal.enter(Self.innocent)
      _ = try journal.enter(Self.poison)
      journal.leave(slot)
    }
    let journal = try start()
    #expect(journal.isSuspect(Self.poison))
    #expect(!journal.isSuspect(Self.innocent))
  }

  @Test func `a suspect over which the program ends again fails`() throws {
    for _ in 1...4 { _ = try start().enter(Self.poison) }
    let journal = try start()
    let error = #expect(throws: ImagingError.self) { try journal.enter(Self.poison) }
    #expect(error?.code == .decoderCrashed)
    #expect(error?.message == "the program ended 4 times while it filtered this picture")
    _ = try journal.enter(Self.innocent)
  }

  @Test func `a suspect that has not begun when the program ends stays one`() throws {
    for _ in 1...3 { _ = try start().enter(Self.poison) }
    _ = try start().enter(Self.innocent)
    #expect(try start().isSuspect(Self.poison))
  }

  /// Reads the manifest of a run; `crashes` stands for the end of the program meanwhile.
  private func read(_ runID: String = "run-1", crashes: Bool) throws -> Bool? {
    let journal = try start()
    guard !crashes else {
      _ = try journal.enter(.manifest(of: runID))
      return nil
    }
    return try journal.reading(manifestOf: runID, isCancelled: { false }) { true }
  }

  @Test func `a manifest over which the program has ended four times is not read any more`() throws {
    for _ in 1...3 { _ = try read(crashes: true) }
    #expect(try start().suspects(of: "run-1") == [], "it is no entry")
    _ = try read(crashes: true)
    #expect(try read(crashes: false) == nil)
    #expect(try read("run-2", crashes: false) == true)
  }

  @Test func `a manifest that was read, or could not be, begins anew, and one that was cancelled does not`() throws {
    struct Unreadable: Error {}
    for _ in 1...3 { _ = try read(crashes: true) }
    #expect(throws: CancellationError.self) {
      try start().reading(manifestOf: "run-1", isCancelled: { false }) { throw CancellationError() }
    }
    #expect(try start().isSuspect(.manifest(of: "run-1")))
    #expect(throws: Unreadable.self) {
      try start().reading(manifestOf: "run-1", isCancelled: { false }) { throw Unreadable() }
    }
    #expect(try !start().isSuspect(.manifest(of: "run-1")))
  }

  @Test func `what is known of a run ends with it`() throws {
    for _ in 1...4 { _ = try start().enter(Self.poison) }
    _ = try start([])
    #expect(throws: Never.self) { try start().enter(Self.poison) }
  }

  @Test func `an end after the ends were counted, and before the slots were emptied, does not count twice`() throws {
    let slots = folder.file(FiltrationJournal.slotsName)
    for _ in 1...2 {
      _ = try start().enter(Self.poison)
      let left = try Data(contentsOf: URL(fileURLWithPath: slots))
      _ = try start()
      try left.write(to: URL(fileURLWithPath: slots))
    }
    #expect(try !start().isSuspect(Self.poison))
    _ = try start().enter(Self.poison)
    #expect(try start().suspects(of: "run-1") == [7])
  }

  @Test func `who has got through a filtration begins anew, also for the next process`() throws {
    for _ in 1...2 { _ = try start().enter(Self.poison) }
    let journal = try start()
    journal.leave(try journal.enter(Self.poison))
    _ = try journal.enter(Self.poison)
    _ = try start().enter(Self.poison)
    #expect(try !start().isSuspect(Self.poison))
  }

  @Test func `a suspect that has got through is none any more, and one that was cancelled is`() throws {
    for _ in 1...3 { _ = try start().enter(Self.poison) }
    do {
      let journal = try start()
      journal.leave(try journal.enter(Self.poison), hasEnded: false)
      #expect(journal.isSuspect(Self.poison))
    }
    let journal = try start()
    #expect(journal.suspects(of: "run-1") == [7] && journal.suspects(of: "run-2") == [])
    journal.leave(try journal.enter(Self.poison))
    #expect(!journal.isSuspect(Self.poison))
    #expect(try !start().isSuspect(Self.poison))
  }

  @Test func `what is inside when the program ends because it is told to is not to blame`() throws {
    for _ in 1...4 {
      let journal = try start()
      _ = try journal.enter(Self.poison)
      journal.close()
      // What begins after that is none of the next start's business either.
      _ = try journal.enter(Self.innocent)
    }
    #expect(try !start().isSuspect(Self.poison))
    #expect(try !start().isSuspect(Self.innocent))
  }

  @Test func `a short slot does not read as what a longer one left in it`() throws {
    let long = FiltrationJournal.Key(runID: "run-1", position: 123_456)
    for _ in 1...3 {
      let journal = try start()
      journal.leave(try journal.enter(long))
      _ = try journal.enter(Self.poison)
    }
    let journal = try start()
    #expect(journal.suspects(of: "run-1") == [7])
  }

  @Test(.timeLimit(.minutes(30)))
  func `a suspect is filtered while nothing else is`() throws {
    for _ in 1...3 { _ = try start().enter(Self.poison) }
    let journal = try start()
    let other = try journal.enter(Self.innocent)
    #expect(throws: ImagingError.self, "it waits while another is inside") {
      try journal.enter(Self.poison, isCancelled: { true })
    }
    let order = Mutex<[String]>([])
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let done = DispatchGroup()
    Thread.detachNewThread(in: done) {
      guard let slot = try? journal.enter(Self.poison) else { return }
      order.withLock { $0.append("alone") }
      entered.signal()
      mayLeave.wait()
      order.withLock { $0.append("left") }
      journal.leave(slot)
    }
    order.withLock { $0.append("other left") }
    journal.leave(other)
    entered.wait()
    // It is not let in while a suspect is.
    #expect(throws: ImagingError.self) { try journal.enter(Self.innocent, isCancelled: { true }) }
    mayLeave.signal()
    done.wait()
    _ = try journal.enter(Self.innocent)
    #expect(order.withLock { $0 } == ["other left", "alone", "left"])
  }
}

extension Thread {
  fileprivate static func detachNewThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
    group.enter()
    detachNewThread {
      body()
      group.leave()
    }
  }
}
