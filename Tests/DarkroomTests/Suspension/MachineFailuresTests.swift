import Glibc
import Model
import System
import Testing

@testable import Darkroom

@Suite struct MachineFailuresTests {
  private let failed = SystemError("fsync", "f", code: EIO)

  /// Checks what suspends the queues.
  /// - Parameter found: What the probe fails with.
  private func check(_ failures: inout MachineFailures, now: Double = 0, found: SystemError? = nil) -> String? {
    failures.check(now: now) { found }
  }

  @Test func `an error suspends the queues only as long as nothing else can be written either`() {
    var failures = MachineFailures(now: 0)
    #expect(check(&failures, found: failed) == nil, "nothing was suspected")
    failures.suspect(SystemError("open", "g", code: EIO))
    #expect(failures.needsScan)
    #expect(check(&failures, found: failed) == failed.description)
    failures.needsScan = false
    failures.suspect(failed)
    #expect(!failures.needsScan)
    #expect(failures.reason(now: 0) == failed.description)
    #expect(check(&failures) == nil)
    #expect(failures.reason(now: 0) == nil)
    #expect(check(&failures, found: failed) == nil, "it is over")
  }

  @Test(arguments: [ENOSPC, EMFILE, ENOMEM])
  func `want of space, descriptors or memory is no failure of the machine`(code: Int32) {
    var failures = MachineFailures(now: 0)
    failures.suspect(failed)
    #expect(check(&failures, found: SystemError("open", "g", code: code)) == nil)
  }

  @Test func `what cannot be recorded suspends the queues for five seconds, or until something is written`() {
    var failures = MachineFailures(now: 0)
    failures.fail(failed, now: 10)
    #expect(failures.needsScan)
    #expect(check(&failures, now: 14.9) == failed.description && failures.reason(now: 14.9) == failed.description)
    #expect(check(&failures, now: 15) == nil && failures.reason(now: 15) == nil)
    failures.fail(failed, now: 20)
    failures.wroteSomething(now: 21)
    #expect(check(&failures, now: 22) == nil && failures.lastWritten == 21)
    failures.fail(SystemError("open", "g", code: EMFILE), now: 30)
    #expect(check(&failures, now: 31) == nil && failures.reason(now: 31) != nil, "what goes on gives them back")
  }

  @Test func `a full disk is taken to be full for five seconds, and writing is stuck until it succeeds`() {
    var failures = MachineFailures(now: 0)
    failures.waitForSpace(now: 10, isForAll: false)
    #expect(failures.needsScan)
    #expect(failures.diskFullUntil == 0 && failures.stuckSince == 10_000)
    failures.waitForSpace(now: 12, isForAll: true)
    #expect(failures.diskFullUntil == 17 && failures.stuckSince == 10_000)
    failures.plannedSomething()
    #expect(failures.stuckSince == nil && failures.lastWritten == 0)
    failures.waitForSpace(now: 20, isForAll: true)
    failures.wroteSomething(now: 21)
    #expect(failures.stuckSince == nil && failures.lastWritten == 21)
  }

  @Test func `a missing outbox explains every other error`() {
    var failures = MachineFailures(now: 0)
    failures.fail(failed, now: 0)
    failures.outboxTrouble = .outbox("out: it is gone")
    #expect(check(&failures)?.contains("out: it is gone") == true)
    failures.outboxTrouble = nil
    #expect(check(&failures) == failed.description)
  }
}
