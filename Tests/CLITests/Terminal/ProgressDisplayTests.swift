import Testing

@testable import DarkroomCLI

/// The lines of the progress display, for terminals of any size.
@Suite struct ProgressDisplayTests {
  /// Everything that there can be: long and wide names, many jobs, pauses and hosts.
  private static let full: ProgressSnapshot = {
    var snapshot = ProgressSnapshot()
    snapshot.jobs = [
      .init(name: "cats", total: 1200, ended: 412, failed: 3), .init(name: "写真-日本語の仕事", total: 3_000_000, ended: 17),
      .init(name: "forged\u{1B}[2J\nline", note: "planning"),
      .init(name: String(repeating: "long", count: 50), total: 1),
      .init(name: "👩‍🚀👩‍🚀", total: 9, ended: 9, note: "being cancelled"),
    ]
    snapshot.jobs += (0..<40).map { .init(name: "job\($0)", total: 10) }
    (snapshot.total, snapshot.ended, snapshot.failed, snapshot.deferred) = (3_001_200, 429, 3, 2)
    (snapshot.elapsed, snapshot.rate, snapshot.byteRate, snapshot.secondsLeft) = (83, 38.2, 4_300_000, 78_000)
    snapshot.pauses = ["deploy.lock (bis das Backup fertig ist)", "disk (写真のディスクがいっぱいです)", "memory (x)"]
    snapshot.held = (0..<30).map { .init(host: "host\($0).example", secondsLeft: Double($0) * 7 + 0.5) }
    return snapshot
  }()

  private static var snapshots: [ProgressSnapshot] {
    var one = full
    one.jobs = Array(full.jobs.prefix(1))
    (one.pauses, one.held) = ([], [])
    var planning = ProgressSnapshot()
    planning.jobs = [.init(name: "写真", note: "planning")]
    var empty = ProgressSnapshot()
    empty.jobs = [.init(name: "empty", total: 0)]
    var done = one
    (done.ended, done.total) = (1200, 1200)
    return [full, one, planning, empty, done]
  }

  @Test(arguments: 1...200)
  func `no line is as wide as the terminal, at any width`(columns: Int) {
    for snapshot in Self.snapshots {
      for rows in [1, 2, 3, 5, 8, 24, 100] {
        let lines = ProgressDisplay.lines(snapshot, .init(columns: columns, rows: rows))
        #expect(lines.count <= min(rows - 1, ProgressDisplay.maxLines))
        for line in lines {
          #expect(line.columns < columns, "\(line.text)")
          #expect(!line.text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, "\(line.text)")
        }
        if rows > 1, columns >= 20 { #expect(!lines.isEmpty) }
        // The count of entries is the last to go.
        if rows > 1, columns >= 20, snapshot.total > 0 {
          #expect(lines[0].text.contains("\(snapshot.ended)/\(snapshot.total)"), "\(lines[0].text)")
        }
      }
    }
  }

  @Test(arguments: 40...200)
  func `from 40 columns there is a bar, from 80 all that is known of the whole`(columns: Int) {
    var snapshot = Self.full
    snapshot.total = 1200
    let lines = ProgressDisplay.lines(snapshot, .init(columns: columns, rows: 24)).map(\.text)
    #expect(lines[0].contains("[=") && lines[0].contains("3 failed"), "\(lines)")
    let head = lines[0] + lines[1]
    guard columns >= 80 else { return }
    for part in ["429/1200", "3 failed", "35 %", "2 deferred", "38/s", "21:40:00 left", "4.1 MiB/s"] {
      #expect(head.contains(part), "\(part): \(lines)")
    }
  }

  @Test func `it looks like this`() {
    #expect(
      ProgressDisplay.lines(Self.full, .init(columns: 80, rows: 24)).map(\.text) == [
        "45 jobs [                              ] 429/3001200, 3 failed, 0 %, 2 deferred",
        "  38/s, 21:40:00 left, 4.1 MiB/s",
        "  cats                      412/1200, 3 failed",
        "  写真-日本語の仕事         17/3000000",
        "  forged\\x1b[2J\\x0aline     planning",
        "  longlonglonglonglonglon…  0/1",
        "  and 41 more jobs",
        "paused: deploy.lock (bis das Backup fertig ist)",
        "paused: disk (写真のディスクがいっぱいです)",
        "on hold: host0.example 0:01, host1.example 0:08, and 28 more",
      ])
    var one = Self.snapshots[1]
    one.total = 1200
    #expect(
      ProgressDisplay.lines(one, .init(columns: 100, rows: 24)).map(\.text) == [
        "cats [=======>               ] 429/1200, 3 failed, 35 %, 2 deferred, 38/s, 21:40:00 left, 4.1 MiB/s"
      ])
    #expect(
      ProgressDisplay.lines(one, .init(columns: 20, rows: 24)).map(\.text) == [
        "429/1200, 3 failed", "  38/s", "  cats  412/1200",
      ])
  }

  @Test func `on a low terminal the whole comes first, then a pause`() {
    let two = ProgressDisplay.lines(Self.full, .init(columns: 80, rows: 3)).map(\.text)
    #expect(two.count == 2 && two[0].contains("429/3001200") && two[1].hasPrefix("paused: deploy.lock"), "\(two)")
  }

  @Test(arguments: [(0, 0), (1, 1), (5, 5), (6, 5), (45, 5)])
  func `a few jobs have a line each, and the last tells how many more there are`(jobs: Int, lines: Int) {
    var snapshot = ProgressSnapshot()
    snapshot.jobs = (0..<jobs).map { .init(name: "job\($0)", total: 1) }
    snapshot.total = jobs
    let all = ProgressDisplay.lines(snapshot, .init(columns: 80, rows: 24)).map(\.text).dropFirst()
    #expect(all.count == (jobs == 1 ? 0 : lines), "the only job is named in the first line: \(all)")
    #expect(all.last?.contains("more job") == (jobs > lines ? true : all.isEmpty ? nil : false))
  }
}
