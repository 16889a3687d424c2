import Synchronization
import System
import Testing

@testable import Sandbox

@Suite struct SpawnThreadTests {
  @Test func `a thread that cannot be created now is an error, and is created by a later call`() throws {
    let tries = Mutex(0)
    let thread = SpawnThread { body throws(SystemError) in
      let count = tries.withLock { tries in
        tries += 1
        return tries
      }
      guard count > 2 else { throw SystemError("pthread_create", "thread", code: 11) }
      try NativeThread("thread", body).detach()
    }
    for _ in 0..<2 {
      let error = #expect(throws: SystemError.self) { try thread.run { 1 } }
      #expect(error?.cause == .exhaustion)
    }
    #expect(try thread.run { 7 } == 7)
    #expect(try thread.run { 8 } == 8)
    #expect(tries.withLock { $0 } == 3)
  }
}
