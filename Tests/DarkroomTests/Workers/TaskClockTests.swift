import Sandbox
import Testing

@testable import Operations

/// When a worker is given up: 30 s of processor time, 300 s on the wall, a minute without work.
@Suite struct TaskClockTests {
  private let limits = WorkerLimits(memory: MemoryBudget(available: 1 << 30, workers: 1))

  /// Checks ten times a second a worker that uses a share of a processor.
  /// - Returns: Why it was given up, and after how many seconds; nil after an hour.
  private func watch(
    share: Double, earlier: Double = 0, megapixels: Int = 0, waitsForDisk: Bool = false
  ) -> (loss: WorkerLoss, seconds: Int)? {
    var clock = TaskClock(limits, now: 1000, earlier: earlier)
    clock.limit = limits.time(pixels: megapixels * 1_000_000)
    for tick in 1...36_000 {
      let passed = Double(tick) / 10
      if let loss = clock.check(now: 1000 + passed, used: passed * share, waitsForDisk: { waitsForDisk }) {
        return (loss, Int(passed))
      }
    }
    return nil
  }

  @Test func `one that works is given up after its time of the processor`() throws {
    let ended = try #require(watch(share: 1))
    #expect(ended.loss == .outOfTime(30))
    #expect(ended.seconds == 30)
    #expect(watch(share: 1, megapixels: 100)?.seconds == 230)
  }

  @Test func `one that does nothing is given up after a minute, whatever the picture`() throws {
    for megapixels in [0, 100] {
      let ended = try #require(watch(share: 0, megapixels: megapixels))
      guard case .silent(_, isFinal: false) = ended.loss else { throw ended.loss }
      #expect((60...61).contains(ended.seconds))
    }
  }

  /// On a machine with much to do.
  @Test func `one that gets a tenth of a processor has all its time`() throws {
    let ended = try #require(watch(share: 0.11))
    #expect(ended.loss == .outOfTime(30))
    #expect((270...275).contains(ended.seconds))
  }

  @Test func `no more than ten times the limit passes on the wall, over all tries`() throws {
    let ended = try #require(watch(share: 0.099))
    #expect(ended.loss == .silent(300, isFinal: true))
    #expect((300...301).contains(ended.seconds))
    let again = try #require(watch(share: 0.099, earlier: 100))
    #expect(again.loss == .silent(300, isFinal: true))
    #expect((200...201).contains(again.seconds))
  }

  @Test func `one that waits for a disk has ten times the limit`() throws {
    #expect(watch(share: 0, waitsForDisk: true)?.loss == .silent(300, isFinal: true))
  }

  @Test func `a second try knows how large the picture is before it has said so`() {
    var clock = TaskClock(limits, now: 0)
    clock.limit = limits.time(pixels: 100_000_000)
    for second in 1...400 { _ = clock.check(now: Double(second), used: Double(second) / 2, waitsForDisk: { false }) }
    clock.tryAgain(now: 5000)
    #expect(clock.check(now: 5001, used: 0, waitsForDisk: { false }) == nil)
    #expect(clock.elapsed == 401)
  }

  /// `SIGSTOP` to the process group, a frozen container.
  @Test func `time in which the program itself was stopped does not count`() {
    var clock = TaskClock(limits, now: 0)
    #expect(clock.check(now: 1, used: 0, waitsForDisk: { false }) == nil)
    #expect(clock.check(now: 100_000, used: 0, waitsForDisk: { false }) == nil)
    #expect(clock.elapsed == 2)
  }

  @Test func `time in which it waited for memory does not count`() {
    var clock = TaskClock(limits, now: 0)
    clock.skip(to: 500)
    #expect(clock.check(now: 500.5, used: 0, waitsForDisk: { false }) == nil)
    #expect(clock.elapsed == 0.5)
  }

  @Test func `what was killed for want of memory is tried again alone, and fails as too large`() {
    let killed = WorkerLoss.ended(.signalled(9))
    #expect(killed.next(tries: 1, wasAlone: false, lacksMemory: true) == .alone)
    #expect(killed.next(tries: 2, wasAlone: false, lacksMemory: true) == .alone)
    #expect(killed.next(tries: 2, wasAlone: true, lacksMemory: true) == .fail)
    #expect(killed.error(wasAlone: true).code == .imageTooLarge)
  }

  @Test func `what another process has killed twice is tried again alone, and fails as too large`() {
    let killed = WorkerLoss.ended(.signalled(9))
    #expect(killed.next(tries: 1, wasAlone: false, lacksMemory: false) == .again)
    #expect(killed.next(tries: 2, wasAlone: false, lacksMemory: false) == .alone)
    #expect(killed.next(tries: 3, wasAlone: true, lacksMemory: false) == .fail)
  }

  @Test(arguments: [false, true])
  func `what has had all its time is not tried again, and the rest once`(lacksMemory: Bool) {
    for loss in [WorkerLoss.outOfTime(30), .silent(300, isFinal: true)] {
      #expect(loss.next(tries: 1, wasAlone: false, lacksMemory: lacksMemory) == .fail)
    }
    for loss in [WorkerLoss.ended(.signalled(6)), .ended(.exited(77)), .silent(60, isFinal: false), .garbage] {
      #expect(loss.next(tries: 1, wasAlone: false, lacksMemory: lacksMemory) == .again)
      #expect(loss.next(tries: 2, wasAlone: false, lacksMemory: lacksMemory) == .fail)
    }
  }
}
