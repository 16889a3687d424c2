import Foundation
import TestSupport
import Testing

/// Requests without names of their own: each keeps the name that was derived for it in the job's last run.
@Suite(.blocking) struct KeptNameTests {
  private let folders: DarkroomFolders
  private let pictures: TemporaryFolder
  private let nginx: Nginx

  /// The pictures that there are: each has another width.
  private static let served = ["x/a.jpg", "y/a.jpg", "z/A.jpg", "n/a.png", "m/b.jpg"]

  init() throws {
    folders = try DarkroomFolders()
    pictures = try TemporaryFolder()
    nginx = try Nginx(
      serving: pictures.path,
      directives: "location ~ ^/signed/[^/]+/(?<picture>.*)$ { rewrite ^ /$picture break; }")
    let script = """
      import os, sys
      from PIL import Image
      for number, path in enumerate(sys.argv[1:]):
          os.makedirs(os.path.dirname(path), exist_ok=True)
          Image.new("RGB", (40 + number, 30), (number * 9, 20, 90)).save(path)
      """
    _ = try TestPython.run(script, Self.served.map(pictures.file))
  }

  /// Runs the job with these paths on the server, or lines of JSON.
  private func run(_ lines: [String], status: Int32 = 0, _ options: [String] = []) throws -> Report {
    let text = lines.map { $0.hasPrefix("{") ? $0 + "\n" : "\"\(nginx.url($0))\"\n" }.joined()
    try folders.drop("job.jsonl", text)
    let run = try folders.run(["--filters", "none"] + options)
    #expect(run.status == status, "\(run.error)")
    let report = try folders.validReport("job")
    for row in report.entries where row.output != nil { try checkPicture(row) }
    try folders.checkOutbox()
    return report
  }

  /// Expects that the file of a row is the picture of its URL.
  private func checkPicture(_ row: Report.Row) throws {
    let path = try #require(Self.served.first { row.url.contains("/" + $0) })
    let output = try #require(row.output)
    #expect(try Data(contentsOf: URL(fileURLWithPath: pictures.file(path))) == folders.contents("job/" + output.file))
  }

  struct Sample: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let second: [String]
    let names: [String]
    let reused: Int
  }

  @Test(arguments: [
    Sample(
      testDescription: "a line put in front", second: ["n/a.png", "x/a.jpg", "y/a.jpg", "z/A.jpg"],
      names: ["a-4", "a", "a-2", "A-3"], reused: 3),
    Sample(testDescription: "a line removed", second: ["y/a.jpg", "z/A.jpg"], names: ["a-2", "A-3"], reused: 2),
    Sample(
      testDescription: "the order reversed", second: ["z/A.jpg", "y/a.jpg", "x/a.jpg"], names: ["A-3", "a-2", "a"],
      reused: 3),
    Sample(
      testDescription: "a line in the place of another", second: ["n/a.png", "y/a.jpg", "z/A.jpg"],
      names: ["a", "a-2", "A-3"], reused: 2),
    Sample(
      testDescription: "the same request twice", second: ["n/a.png", "x/a.jpg", "x/a.jpg", "z/A.jpg"],
      names: ["a-2", "a", "a-4", "A-3"], reused: 2),
  ])
  func `results are not exchanged, and what is there is reused`(sample: Sample) throws {
    let first = try run(["x/a.jpg", "y/a.jpg", "z/A.jpg"])
    #expect(first.entries.map(\.name) == ["a", "a-2", "A-3"])
    let asked = try nginx.accessLog().count
    let second = try run(sample.second)
    #expect(second.entries.map(\.name) == sample.names)
    #expect(second.counts.reused == sample.reused && second.counts.filtered == sample.second.count)
    let answers = try nginx.accessLog().dropFirst(asked).map { $0.split(separator: " ")[8] }
    #expect(answers.count { $0 == "304" } == sample.reused)
    // Again, as each night.
    let third = try run(sample.second)
    #expect(third.entries.map(\.name) == sample.names && third.counts.reused == sample.second.count)
    #expect(third.warnings == nil)
  }

  @Test func `a name that is given to another beats one that is kept, with a warning`() throws {
    _ = try run(["x/a.jpg", "y/a.jpg"])
    let given = #"{"name": "A", "url": "\#(nginx.url("m/b.jpg"))"}"#
    let second = try run(["y/a.jpg", "x/a.jpg", given])
    #expect(second.entries.map(\.name) == ["a-2", "a-3", "A"])
    let warning = try #require(second.warnings?.first { $0.code == "name-clash" })
    #expect(warning.message.contains(#"had the name "a" in the last run"#) && warning.message.contains(#""a-3""#))
    // From then on that is its name.
    let third = try run(["n/a.png", "x/a.jpg", "y/a.jpg"])
    #expect(third.entries.map(\.name) == ["a", "a-3", "a-2"] && third.warnings == nil)
  }

  @Test func `what failed keeps its name until it succeeds`() throws {
    let late = pictures.file("y/a.jpg")
    try FileManager.default.moveItem(atPath: late, toPath: late + ".later")
    let first = try run(["x/a.jpg", "y/a.jpg", "gone/a.jpg"], status: 1)
    #expect(first.entries.map(\.name) == ["a", "a-2", "a-3"] && first.counts.failed == 2)
    try FileManager.default.moveItem(atPath: late + ".later", toPath: late)
    let second = try run(["n/a.png", "gone/a.jpg", "y/a.jpg", "x/a.jpg"], status: 1)
    #expect(second.entries.map(\.name) == ["a-4", "a-3", "a-2", "a"])
    #expect(second.entries.map(\.recovered) == [nil, nil, true, nil])
    #expect(second.entries[1].error?.runs == 2)
    #expect(second.since_last == Report.SinceLast(failedAgain: 1, recovered: 1, unchanged: 1))
  }

  @Test func `links that are signed anew keep their names by their keys`() throws {
    func links(_ night: Int, _ paths: [String]) -> [String] {
      paths.map { #"{"cache-key": "\#($0)", "url": "\#(nginx.url("signed/\(night)/\($0)"))"}"# }
    }
    #expect(try run(links(1, ["x/a.jpg", "y/a.jpg"])).entries.map(\.name) == ["a", "a-2"])
    let second = try run(links(2, ["n/a.png", "y/a.jpg", "x/a.jpg"]))
    #expect(second.entries.map(\.name) == ["a-3", "a-2", "a"] && second.counts.reused == 2)
  }

  @Test func `variants keep the name of their entry`() throws {
    func variants(_ path: String) -> String {
      #"{"url": "\#(nginx.url(path))", "variants": [{"name": "s"}, {"name": "m"}]}"#
    }
    _ = try run([variants("x/a.jpg"), variants("y/a.jpg")])
    let second = try run([variants("n/a.png"), variants("y/a.jpg"), variants("x/a.jpg")])
    #expect(second.entries.map(\.name) == ["a-3", "a-3", "a-2", "a-2", "a", "a"])
    #expect(second.counts.reused == 4)
  }

  @Test func `a run without derived names in between, or one that is rejected, changes nothing`() throws {
    _ = try run(["x/a.jpg", "y/a.jpg"])
    _ = try run([#"{"name": "b", "url": "\#(nginx.url("m/b.jpg"))"}"#])
    try folders.drop("job.jsonl", "{\"url\": 7}\n")
    #expect(try folders.run().status == 65)
    #expect(try run(["n/a.png", "y/a.jpg", "x/a.jpg"]).entries.map(\.name) == ["a-3", "a-2", "a"])
  }

  @Test(arguments: [false, true])
  func `names outlive a damaged ledger`(isLost: Bool) throws {
    _ = try run(["x/a.jpg", "y/a.jpg", "z/A.jpg"])
    let ledger = folders.outbox + "/.darkroom/ledger.sqlite"
    if isLost {
      try Data(repeating: 0x55, count: 8192).write(to: URL(fileURLWithPath: ledger))
    } else {
      // A row of another table is not what was written.
      _ = try TestPython.run(
        """
        import sqlite3, sys
        ledger = sqlite3.connect(sys.argv[1])
        ledger.execute("UPDATE outputs SET bytes = bytes + 1 WHERE target = 'images/a.jpg'")
        ledger.commit()
        """, [ledger])
    }
    try Data().write(to: URL(fileURLWithPath: folders.outbox + "/.darkroom/in-use"))
    let paths = ["n/a.png", "z/A.jpg", "y/a.jpg", "x/a.jpg"]
    try folders.drop("job.jsonl", paths.map { "\"\(nginx.url($0))\"\n" }.joined())
    let again = try folders.run(["--filters", "none"])
    #expect(again.status == 0 && again.error.contains("the ledger was damaged"), "\(again.error)")
    let report = try folders.report("job")
    #expect(report.entries.map(\.name) == ["a-4", "A-3", "a-2", "a"] && report.state == "succeeded")
    for row in report.entries { try checkPicture(row) }
  }
}
