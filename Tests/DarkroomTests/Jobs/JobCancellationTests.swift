import Ledger
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Delivery
@testable import JobIndex
@testable import Model

@Suite struct JobCancellationTests {
  private let deliveries: Deliveries
  private let run: RunContext
  private let index: JobIndex

  init() throws {
    deliveries = try Deliveries()
    run = try deliveries.run(1)
    index = try JobIndex(creating: .memory)
    let index = index
    try index.fill { for position in 0..<2500 { try index.insert(.sample(position)) } }
  }

  private func cancellation(_ attempts: [Int: Int] = [:]) -> JobCancellation {
    JobCancellation(
      run: run, index: index, ledger: deliveries.ledger, delivery: deliveries.queue, attempts: attempts)
  }

  private func rows() throws -> [ReportRow] {
    var rows: [ReportRow] = []
    try deliveries.ledger.eachEndedPage(run: run.runID) { rows += try $0.map { try ReportRow(parsing: $0.row) } }
    return rows
  }

  @Test func `every entry without a row gets one, also deferred ones and suspects, and what has one keeps it`() throws {
    for position in [0, 1700] { deliveries.queue.deliver(try deliveries.failed(position, of: run), isUrgent: true) }
    _ = deliveries.wait(records: 2)
    #expect(try index.take(3, as: .suspect))
    #expect(try index.take(4, as: .held))
    let tally = try cancellation([7: 2]).write { false }
    #expect(tally.counts == .init(total: 2500, filtered: 0, failed: 2, cancelled: 2498, reused: 0))
    #expect(tally.counts.state == .cancelled)
    let rows = try rows()
    #expect(rows.map(\.index) == Array(0..<2500))
    #expect(rows.filter { $0.state == .failed }.map(\.index) == [0, 1700])
    #expect(rows[7].attempts == 2 && rows[8].attempts == 0)
    let log = try String(contentsOfFile: run.folder.entriesLog, encoding: .utf8)
    #expect(log.split(separator: "\n").count == 2500)
  }

  @Test func `names of a run that had not begun count for the next`() throws {
    var cancellation = cancellation()
    cancellation.names = [
      .addNames(LedgerNames(page: 0, text: "[]"), run: run.runID), .name(run.runID, job: run.job, pages: 1),
    ]
    _ = try cancellation.write { false }
    #expect(try deliveries.ledger.namedRun(for: "next", job: run.job) != nil)
  }

  @Test func `interrupted and done again, it gives each entry one row`() throws {
    var pages = 0
    #expect(throws: CancellationError.self) {
      try cancellation().write {
        pages += 1
        return pages > 1
      }
    }
    #expect(try rows().count == 1000)
    #expect(try cancellation().write { false }.counts == .init(total: 2500, filtered: 0, cancelled: 2500))
    #expect(try rows().map(\.index) == Array(0..<2500))
    let log = try String(contentsOfFile: run.folder.entriesLog, encoding: .utf8)
    #expect(log.split(separator: "\n").count == 2500)
  }

  @Test func `a run that had not begun is one that runs, for the next start`() throws {
    _ = try cancellation().write { false }
    #expect(try deliveries.ledger.liveJobs().map(\.state) == [.running])
  }

  @Test func `what entries have in staging is removed, also of those that never began`() throws {
    let others = [Staging(folder: run.staging.folder, runID: RunID.make()).download(5), run.staging.document("x")]
    for file in run.staging.files(of: 5) + run.staging.files(of: 6) + others { _ = try run.staging.create(file) }
    _ = try cancellation([5: 1]).write { false }
    #expect(try Set(run.staging.open().names().compactMap(\.text)) == Set(others))
  }
}
