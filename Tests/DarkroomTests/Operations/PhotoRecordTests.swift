import Testing

@testable import Darkroom
@testable import Imaging

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

  @Test("only legal transitions happen, on every way of four events", arguments: paths)
  private func transitions(path: [Event]) throws {
    let record = PhotoRecord(try .sample())
    var expected = PhotoRecord.State.new
    for event in path {
      switch event {
      case .downloaded: record.downloaded(.sample, taking: .zero)
      case .filtered: try record.filtered(.sample, from: .sample, taking: .zero)
      case .fail: record.fail(EntryFailure(stage: .filter, code: "filter-failed", message: ""))
      case .cancel: record.cancel()
      }
      expected = Self.after(expected, event)
      let live = record.snapshot
      #expect(live.state == expected)
      #expect((live.result != nil) == (expected == .filtered), "a result is there exactly when it is to be delivered")
      #expect((live.failure != nil) == (expected == .failed))
      #expect((record.delivery != nil) == (expected == .filtered))
      #expect(record.row()["state"] == .string(expected.rawValue))
      #expect((record.row()["output"] != nil) == (expected == .filtered))
      #expect((record.row()["error"] != nil) == (expected == .failed))
    }
  }

  @Test("the first failure is the one that is told")
  func firstFailure() throws {
    let record = PhotoRecord(try .sample())
    record.fail(EntryFailure(stage: .download, code: "dns", message: "first"))
    record.fail(EntryFailure(stage: .outbox, code: "io", message: "second"))
    #expect(record.snapshot.failure?.code == "dns")
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
              record.fail(EntryFailure(stage: .download, code: "\(number)", message: ""))
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
    #expect(record.row()["url"]?.string?.contains("example.org") == true)
    #expect(!record.row().text.contains("hunter2"))
  }

  @Test(
    "rows add up",
    arguments: [
      ([], .succeeded), (["filtered"], .succeeded), (["filtered", "failed"], .partial),
      (["filtered", "cancelled"], .partial),
      (["failed", "cancelled"], .failed), (["cancelled"], .cancelled), (["failed"], .failed),
    ] as [([String], JobOutcome.State)])
  func tally(states: [String], expected: JobOutcome.State) {
    var tally = JobTally()
    for state in states { tally.add(.object(["state": .string(state), "output": .object(["bytes": .integer(2)])])) }
    #expect(tally.counts.state == expected)
    #expect(tally.counts.total == tally.counts.filtered + tally.counts.failed + tally.counts.cancelled)
    #expect(tally.counts.total == states.count)
  }
}

extension PhotoRecord.Source {
  static var sample: PhotoRecord.Source {
    PhotoRecord.Source(finalURL: "http://h/a.jpg", httpStatus: 200, bytes: 10, sha256: "ab")
  }
}

extension PhotoRecord.Result {
  static var sample: PhotoRecord.Result {
    get throws {
      PhotoRecord.Result(
        staged: "s", file: try OpenFile(reading: "/dev/null"), picture: .sample, bytes: 3, sha256: "cd",
        product: Product(of: "ab", for: try .sample(), metadata: .copyright))
    }
  }
}

extension ImageInfo {
  static var sample: ImageInfo { ImageInfo(format: .jpeg, width: 2, height: 3) }
}

extension Entry {
  static func sample(
    _ position: Int = 0, url: String = "http://h/a.jpg", recipe: String = "none", priority: Priority = .normal
  ) throws -> Entry {
    Entry(
      position: position, url: url, name: "entry \(position)", originalName: nil, recipe: try Recipe(parsing: recipe),
      options: OutputOptions(), priority: priority, checksum: nil, metadata: nil)
  }
}
