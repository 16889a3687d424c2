import Foundation
import TestSupport
import Testing

/// What a report says of the job's last run, and which failures are accepted.
@Suite(.blocking) struct SinceLastTests {
  private let folders: DarkroomFolders
  private let pictures: TemporaryFolder
  private let nginx: Nginx

  init() throws {
    folders = try DarkroomFolders()
    pictures = try TemporaryFolder()
    nginx = try Nginx(serving: pictures.path)
  }

  /// Has the server serve a picture under each name.
  private func serve(_ names: String..., shade: Int = 1) throws {
    let script = """
      import sys
      from PIL import Image
      for path in sys.argv[2:]:
          Image.new("RGB", (int(sys.argv[1]), 9)).save(path)
      """
    _ = try TestPython.run(script, ["\(shade)"] + names.map { pictures.file($0 + ".png") })
  }

  private func drop(_ names: [String]) throws {
    try folders.drop("job.txt", names.map { nginx.url($0 + ".png") + "\n" }.joined())
  }

  private func run(_ names: String..., options: [String] = [], status: Int32 = 1) throws -> Report {
    try drop(names)
    let run = try folders.run(options)
    #expect(run.status == status, "\(run.error)")
    let report = try folders.contents("job/report.json")
    #expect(try ReportSchema.violations(of: report) == "")
    return try folders.report("job")
  }

  /// For each row that failed, how many runs in a row it did.
  private func runs(_ report: Report) -> [String: Int] {
    report.entries.reduce(into: [:]) { $0[$1.name] = $1.error?.runs }
  }

  @Test func `rows tell since when they fail, and the report what is new, known, recovered and changed`() throws {
    try serve("a", "b", "c")
    let first = try run("a", "b", "x", "y")
    #expect(first.since_last == nil)
    #expect(runs(first) == ["x": 1, "y": 1])

    try serve("x")
    try serve("b", shade: 2)
    let second = try run("a", "b", "c", "x", "y", "z")
    #expect(second.since_last == Report.SinceLast(failedNew: 1, failedAgain: 1, recovered: 1, changed: 1, unchanged: 1))
    #expect(runs(second) == ["y": 2, "z": 1])
    #expect(second.entries.first { $0.name == "x" }?.recovered == true)
    #expect(second.entries.map { $0.source?.changed } == [false, true, nil, nil, nil, nil])
    let seen = first.entries.first { $0.name == "y" }?.error?.first_seen
    #expect(second.entries.first { $0.name == "y" }?.error?.first_seen == seen && seen != nil)
    #expect(try #require(second.entries.first { $0.name == "z" }?.error?.first_seen) > #require(seen))

    // A run whose manifest is rejected says nothing of the entries.
    try folders.drop("job.txt", " out=a\n")
    #expect(try folders.run().status == 65)
    #expect(try folders.report("job").since_last == nil)

    let third = try run("a", "b", "c", "x", "y", "z", options: ["--refresh"])
    #expect(third.since_last == Report.SinceLast(failedAgain: 2, unchanged: 4, remade: 4))
    #expect(runs(third) == ["y": 3, "z": 2])
    #expect(third.entries.first { $0.name == "y" }?.error?.first_seen == seen)

    try serve("y")
    let fourth = try run("a", "y", "x", status: 0)
    #expect(fourth.since_last == Report.SinceLast(recovered: 1, unchanged: 2))
    try FileManager.default.removeItem(atPath: pictures.file("y.png"))
    let fifth = try run("y", "z")
    #expect(fifth.since_last == Report.SinceLast(failedNew: 2), "what has succeeded, or was not there, begins anew")
    #expect(runs(fifth) == ["y": 1, "z": 1])
  }

  @Test func `a run that was cancelled is not the last one`() throws {
    try serve("a")
    _ = try run("a", "x")
    try drop(["a", "x"])
    #expect(try folders.ask("cancel", ["job"]).status == 0)
    #expect(try folders.run().status == 1)
    #expect(try folders.report("job").state == "cancelled")
    let report = try run("a", "x")
    #expect(report.since_last == Report.SinceLast(failedNew: 0, failedAgain: 1, recovered: 0, changed: 0, unchanged: 1))
    #expect(runs(report) == ["x": 2])
  }

  @Test func `rows are compared by name, whatever the format was`() throws {
    try serve("a", "b")
    _ = try run("a", "b", status: 0)
    try serve("b", shade: 2)
    let second = try run("a", "b", options: ["--format", "jpeg"], status: 0)
    #expect(second.since_last == Report.SinceLast(changed: 1, unchanged: 1, remade: 1))
    #expect(second.entries.map { $0.source?.changed } == [false, true])
    #expect(folders.exists("job/images/a.jpg") && folders.exists("job/images/a.png"))
    let third = try run("a", "b", status: 0)
    #expect(third.since_last == Report.SinceLast(unchanged: 2, remade: 1), "b.png is of the earlier source")
  }

  @Test func `results that are made again from unchanged sources are counted, and the log says why`() throws {
    func line(_ options: [String]) throws -> Substring? {
      try drop(["a", "b", "x"])
      let run = try folders.run(options)
      return run.error.split(separator: "\n").first { $0.contains("made again") }
    }
    try serve("a", "b")
    #expect(try line([]) == nil)
    #expect(try line([]) == nil)
    let said = try #require(try line(["--filters", "none"]))
    #expect(said.contains("job: 2 results were made again from unchanged sources: other filters, "))
    #expect(try folders.report("job").since_last == Report.SinceLast(failedAgain: 1, unchanged: 2, remade: 2))
    #expect(try ReportSchema.violations(of: folders.contents("job/report.json")) == "")
    #expect(try line(["--filters", "sepia()", "--quiet"]) == nil)
    try FileManager.default.removeItem(atPath: folders.outbox + "/job/images/a.png")
    #expect(try line(["--filters", "sepia()"])?.contains("1 result was made again") == true)
    #expect(try line(["--filters", "sepia()"]) == nil)
  }

  static let points = [
    ("fdatasync", [3, 7, 12]), ("renameat2", [1, 2]), ("rename", [1, 2]), ("fsync", [2, 6, 9]), ("unlink", [1]),
    ("ftruncate", [1, 4]),
  ].flatMap { call, numbers in numbers.map { (call, $0) } }

  @Test(arguments: points.sample(4))
  func `killed anywhere, the run is compared as if it had not been`(call: String, number: Int) throws {
    try serve("a", "b", "c")
    _ = try run("a", "b", "x", "y")
    try serve("x")
    try serve("b", shade: 2)
    try drop(["a", "b", "c", "x", "y", "z"])
    _ = try folders.run(injecting: "\(call):signal=KILL:when=\(number)")
    _ = try folders.run()
    let report = try folders.report("job")
    #expect(report.since_last == Report.SinceLast(failedNew: 1, failedAgain: 1, recovered: 1, changed: 1, unchanged: 1))
    #expect(runs(report) == ["y": 2, "z": 1])
    let next = try run("a", "b", "c", "x", "y", "z")
    #expect(next.since_last == Report.SinceLast(failedAgain: 2, unchanged: 4))
  }

  @Test func `failures that were there last time are accepted, in silence`() throws {
    try serve("a")
    try drop(["a", "x", "y"])
    let first = try folders.run(["--quiet", "--accept-failures", "known"])
    #expect(first.status == 1 && first.error.contains("2 failed"), "nothing is known of them: \(first.error)")

    try drop(["a", "x", "y"])
    let second = try folders.run(["--quiet", "--accept-failures", "Known"])
    #expect(second.status == 0 && second.error.isEmpty, "\(second.error)")
    #expect(try folders.report("job").state == "partial")
    try folders.ask("wait", ["job"]).expect(status: 1)
    let accepting = try folders.ask("wait", ["job", "--accept-failures", "known"])
    #expect(accepting.status == 0 && accepting.error.isEmpty, "\(accepting.error)")

    try drop(["a", "x", "y"])
    let told = try folders.run(["--accept-failures", "known"])
    #expect(told.status == 0 && told.error.contains("2 failed (as last time)"), "\(told.error)")

    try drop(["a", "x", "z"])
    let third = try folders.run(["--quiet", "--accept-failures", "known"]).expect(status: 1)
    #expect(third.error.contains("2 failed (1 of them new: z, http-status)"), "\(third.error)")

    try drop(["a", "b"])
    let fourth = try folders.run(["--quiet"])
    #expect(fourth.error.components(separatedBy: "b.png answered").count == 2, "told once: \(fourth.error)")
  }

  @Test(arguments: [
    ("1", Int32(1)), ("2", 0), ("0", 1), ("49%", 1), ("50%", 0), ("100%", 0), ("known", 1),
  ])
  func `so many failures are accepted, or such a share of the rows`(acceptance: String, status: Int32) throws {
    try serve("a", "b")
    try drop(["a", "b", "x", "y"])
    let run = try folders.run(["--quiet", "--accept-failures", acceptance])
    #expect(run.status == status && run.error.isEmpty == (status == 0), "\(run.error)")
    let wait = try folders.ask("wait", ["job", "--accept-failures", acceptance])
    #expect(wait.status == status)
  }

  @Test func `a rejected manifest and what cannot be understood are not accepted`() throws {
    try folders.drop("job.txt", " out=a\n")
    let rejected = try folders.run(["--quiet", "--accept-failures", "100%"])
    #expect(rejected.status == 65 && !rejected.error.isEmpty)
    for value in ["all", "-1", "101%", "%", "1.5", "nan%"] {
      let run = try folders.run(["--accept-failures", value])
      #expect(run.status == 64 && run.error.contains("--accept-failures must be known"), "\(value): \(run.error)")
    }
  }

  @Test func `the event of a job's end has the comparison`() throws {
    for expected in [nil, Report.SinceLast(failedAgain: 1)] {
      try drop(["x"])
      let run = try folders.run(["--json"])
      #expect(try JSONSchema.violations(of: Data(run.output.utf8), name: "events.schema.json") == "")
      let ended = try #require(run.output.split(separator: "\n").first { $0.contains(#""event":"job-ended""#) })
      struct Ended: Decodable { let since_last: Report.SinceLast? }
      #expect(try JSONDecoder().decode(Ended.self, from: Data(ended.utf8)).since_last == expected)
    }
  }
}
