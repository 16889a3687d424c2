import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Darkroom

@Suite(.blocking) struct JobThreadsTests {
  @Test func `work that occupies a processor keeps no other work waiting`() {
    let (threads, group) = (JobThreads("test"), DispatchGroup())
    let begun = Atomic(0)
    let isOver = Atomic(false)
    let count = ProcessInfo.processInfo.activeProcessorCount + 6
    for _ in 0..<count {
      threads.run(in: group) {
        begun.wrappingAdd(1, ordering: .relaxed)
        while !isOver.load(ordering: .relaxed) {}
      }
    }
    #expect(eventually({ begun.load(ordering: .relaxed) }, is: { $0 == count }) == count)
    isOver.store(true, ordering: .relaxed)
    group.wait()
  }

  @Test func `of work that blocks 64 pieces run at once, and all of it runs`() {
    let (threads, group) = (JobThreads("test"), DispatchGroup())
    let gate = DispatchSemaphore(value: 0)
    let running = Mutex((now: 0, most: 0, ended: 0))
    for _ in 0..<200 {
      threads.run(in: group) {
        running.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
        gate.wait()
        running.withLock { ($0.now, $0.ended) = ($0.now - 1, $0.ended + 1) }
      }
    }
    #expect(eventually({ running.withLock { $0.now } }, is: { $0 == JobThreads.limit }) == JobThreads.limit)
    // Dispatch still has threads for others.
    let other = DispatchSemaphore(value: 0)
    DispatchQueue(label: "other").async { other.signal() }
    #expect(other.wait(timeout: .now() + 60) == .success)
    for _ in 0..<200 { gate.signal() }
    group.wait()
    let all = running.withLock { [$0.now, $0.most, $0.ended] }
    #expect(all == [0, JobThreads.limit, 200])
  }
}
