import Database
import Glibc
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Model

/// What the start does when the machine fails it.
@Suite(.blocking) struct LocalRetryTests {
  /// A clock that waiting moves.
  private final class Time {
    var now = 100.0
    var waits: [Double] = []
    var said: [String] = []
  }

  private let time = Time()

  private func retry(limit: Double?, stopAfter: Int = .max) -> LocalRetry {
    LocalRetry(
      limit: limit, now: { time.now },
      wait: { seconds in
        time.waits.append(seconds)
        time.now += seconds
        return time.waits.count < stopAfter
      }, report: { time.said.append($0) })
  }

  @Test func `it is tried again with a backoff until it can be done, and each reason is told once`() throws {
    var failures: [Int32] = [EIO, EIO, EIO, EMFILE]
    let result = try retry(limit: nil).run {
      if !failures.isEmpty { throw SystemError("open", "outbox", code: failures.removeFirst()) }
      return 7
    }
    #expect(result == 7 && time.waits == [1, 2, 4, 8])
    #expect(time.said.count == 2)
  }

  @Test func `it gives up after the limit of time, with the reason`() throws {
    let error = #expect(throws: StopError.self) {
      try retry(limit: 60).run { throw SystemError("open", "outbox", code: EROFS) }
    }
    #expect(error?.description.contains("tried again for 60 s") == true)
    #expect(time.waits.reduce(0, +) == 60 && time.waits.max() == 29)
  }

  @Test func `it ends when the program is told to stop`() throws {
    #expect(throws: CancellationError.self) {
      try retry(limit: nil, stopAfter: 3).run { throw SystemError("open", "outbox", code: EIO) }
    }
    #expect(time.waits.count == 3)
  }

  static let others: [any Error] = [
    SystemError("open", "outbox", code: EACCES), SystemError("open", "outbox", code: ENOENT),
    SystemError("open", "outbox", code: ENOSPC), StopError.busy(folder: "inbox", process: 1),
    SQLiteError(code: 8, message: "read-only", path: "ledger"),
    SQLiteError(code: 11, message: "damaged", path: "ledger"),
    SQLiteError(code: 14, message: "cannot open", path: "ledger", systemError: EACCES),
  ]

  @Test(arguments: others.indices)
  func `what does not pass by itself ends the start at once`(number: Int) throws {
    #expect(throws: (any Error).self) { try retry(limit: nil).run { throw Self.others[number] } }
    #expect(time.waits.isEmpty && time.said.isEmpty)
  }

  @Test func `errors of the ledger are told apart by the number of the system's`() throws {
    var failures = [
      SQLiteError(code: 14, message: "cannot open", path: "ledger", systemError: EMFILE),
      SQLiteError(code: 778, message: "disk I/O error", path: "ledger", systemError: EIO),
      SQLiteError(code: 5, message: "locked", path: "ledger"),
    ]
    try retry(limit: 60).run { if !failures.isEmpty { throw failures.removeFirst() } }
    #expect(time.waits == [1, 2, 4])
  }
}
