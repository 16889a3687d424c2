import Foundation
import TestSupport
import Testing

/// Rows of a table whose `url` is empty.
@Suite(.blocking) struct EmptyURLTests {
  private let folders: DarkroomFolders

  init() throws { folders = try DarkroomFolders() }

  /// The second and the third entry have no URL. The blank line is no entry.
  private static let table = "url,name,tag\ncoffee.jpg,a,1\n,,2\n,,3\n,,\n\nchelsea.jpg,b,4\n"

  private func failed(_ job: String) throws -> [String] {
    let report = try folders.validReport(job)
    #expect(report.errors == nil)
    return report.entries.filter { $0.state == "failed" }.map { row in
      "\(row.index) \(row.name) \(row.error?.code ?? ""): \(row.error?.message ?? "")"
    }
  }

  @Test func `each fails by itself, and the others are processed`() throws {
    try folders.drop("job.csv", Self.table)
    let check = try DarkroomCommand.run(["check", folders.inbox + "/job.csv", "--file-root", packageRoot + "/Samples"])
    #expect(check.status == 0 && check.output.contains("2 of 4 entries would fail"), "\(check.output)")
    let rows = ["1 line-3 url-invalid: no URL is given", "2 line-4 url-invalid: no URL is given"]
    try folders.run().expect(status: 1)
    #expect(try failed("job") == rows)
    #expect(try folders.report("job").counts.filtered == 2)
    // The same names again, and what succeeded is reused.
    #expect(try folders.ask("retry", ["job"]).status == 0)
    try folders.run().expect(status: 1)
    #expect(try failed("job") == rows)
    #expect(try folders.report("job").counts.reused == 2)
    try folders.checkOutbox()
  }

  @Test func `the list of failures is a manifest whose entries fail again`() throws {
    try folders.drop("job.csv", Self.table)
    try folders.run().expect(status: 1)
    let list = try folders.contents("job/job.failed.jsonl")
    try folders.drop("job.failed.jsonl", list)
    try folders.run().expect(status: 1)
    let message = "url-invalid: no URL is given"
    #expect(try failed("job.failed") == ["0 line-3 \(message)", "1 line-4 \(message)"])
    #expect(try folders.objects("job.failed/job.failed.failed.jsonl").map { $0["url"] as? String } == ["", ""])
    // An entry that lacks the field is an error of the manifest.
    try folders.drop("other.jsonl", #"{"name": "a"}"#)
    try folders.run().expect(status: 65)
  }
}
