import System
import Testing
import Transfer

@testable import Darkroom
@testable import Imaging
@testable import Model
@testable import Scheduling

@Suite struct PhotoRecordTests {
  private enum Event: CaseIterable { case downloaded, filtered, fail, cancel }

  private static let picture = ImageInfo.sample
  private static let paths: [[Event]] = {
    var paths: [[Event]] = [[]]
    for _ in 0..<4 { paths = paths.flatMap { path in Event.allCases.map { path + [$0] } } }
    return paths
  }()

  /// What the table of legal transitions says.
  private static func after(_ state: PhotoRecord.State, _ event: Event) -> PhotoRecord.State {
    switch (state, event) {
    case (.new, .downloaded): .downloaded
    case (.downloaded, .filtered): .filtered
    case (.new, .fail), (.downloaded, .fail), (.filtered, .fail): .failed
    case (.new, .cancel), (.downloaded, .cancel): .cancelled
    default: state
    }
  }

  /// What a report says of a record in a state.
  private static func reported(_ state: PhotoRecord.State) -> ReportRow.State {
    switch state {
    case .filtered: .filtered
    case .failed: .failed
    case .new, .downloaded, .cancelled: .cancelled
    }
  }

  @Test(arguments: [false, true])
  func `nothing follows from the silence of a host that had too little time`(isCutShort: Bool) throws {
    let record = PhotoRecord(try Entry.sample(0), run: .sample, isCutShort: isCutShort)
    record.usedHost(HostUsage(isOwn: true, contact: .failed(.silent)))
    #expect(record.usage.contact == (isCutShort ? .unknown : .failed(.silent)))
    record.usedHost(HostUsage(isOwn: true, contact: .answered(firstByte: 1, isMultiplexed: false)))
    #expect(record.usage.contact == .answered(firstByte: 1, isMultiplexed: false))
  }

  @Test func `a try is cut short when the time left is less than a connection may take`() throws {
    var configuration = TransferConfiguration()
    configuration.connectTimeout = .seconds(10)
    #expect(!configuration.isCutShort(left: nil, .usual))
    #expect(!configuration.isCutShort(left: 10, .usual) && configuration.isCutShort(left: 9.9, .usual))
    let budget = HostBreaker.Budget.short(3000)
    #expect(!configuration.isCutShort(left: 3, budget) && configuration.isCutShort(left: 2.9, budget))
    #expect(configuration.isCutShort(left: -1, budget))
  }

  @Test("only legal transitions happen, on every way of four events", arguments: paths)
  private func transitions(path: [Event]) throws {
    let record = PhotoRecord(try .sample())
    var expected = PhotoRecord.State.new
    for event in path {
      switch event {
      case .downloaded: record.downloaded(.sample, taking: .zero)
      case .filtered: try record.filtered(.sample, from: .sample, delivering: [.sample], taking: .zero)
      case .fail: record.fail(EntryFailure(code: .filter(.filterFailed), message: ""))
      case .cancel: record.cancel()
      }
      expected = Self.after(expected, event)
      let live = record.snapshot
      #expect(live.state == expected)
      #expect((live.result != nil) == (expected == .filtered), "a result is there exactly when it is to be delivered")
      #expect((live.failure != nil) == (expected == .failed))
      #expect((record.artifacts[.result] != nil) == (expected == .filtered))
      let row = record.row()
      #expect(row.state == Self.reported(expected))
      #expect((row.output != nil) == (expected == .filtered))
      #expect((row.failure != nil) == (expected == .failed))
    }
  }

  @Test("the first failure is the one that is told")
  func firstFailure() throws {
    let record = PhotoRecord(try .sample())
    record.fail(EntryFailure(code: .download(.dns), message: "first"))
    record.fail(EntryFailure(code: .io, message: "second"))
    #expect(record.snapshot.failure?.code == .download(.dns))
  }

  @Test("of many threads one ends a record")
  func threads() async throws {
    for _ in 0..<50 {
      let record = PhotoRecord(try .sample())
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<8 {
          group.addTask {
            if number.isMultiple(of: 2) {
              record.cancel()
            } else {
              record.fail(EntryFailure(code: .io, message: "\(number)"))
            }
          }
        }
      }
      let live = record.snapshot
      #expect((live.state == .failed) == (live.failure != nil))
      #expect(live.state == .failed || live.state == .cancelled)
    }
  }

  @Test("a row shows no password of its URL")
  func secrets() throws {
    let record = PhotoRecord(try .sample(url: "https://user:hunter2@example.org/a.jpg"))
    #expect(record.row().url.contains("example.org"))
    #expect(!record.row().json.text.contains("hunter2"))
  }

  @Test("of several URLs the row shows the one in use")
  func mirror() throws {
    let urls = ["http://h/a", "http://user:hunter2@g/a"]
    let (first, second) = (try Entry.sample(urls: urls), try Entry.sample(urls: urls))
    let records = [PhotoRecord(first, run: .sample), PhotoRecord(second, run: .sample, mirror: 1, attempts: 3)]
    #expect(records.map { $0.row().url } == ["http://h/a", "http://g/a"])
    #expect(records.map { $0.row().attempts } == [0, 3])
  }

  @Test("a result of an earlier run is a row without a delivery, and its new identity goes to the ledger")
  func reused() throws {
    let record = PhotoRecord(try .sample())
    record.downloaded(.sample, taking: .zero)
    record.reuse(
      DeliveredResult(
        target: "images/a.jpg", bytes: 7, sha256: "ef", picture: .sample, sourcePicture: .sample, newIdentity: "i"),
      taking: .zero)
    let row = record.row()
    #expect(row.isReused && row.state == .filtered && row.output?.file == "images/a.jpg" && row.output?.bytes == 7)
    let entry = record.ledgerEntry(row)
    #expect(record.artifacts.isEmpty)
    #expect(entry.refreshed?.target == "images/a.jpg" && entry.refreshed?.identity == "i")
    #expect(entry.row == row.json.text)
  }
}
