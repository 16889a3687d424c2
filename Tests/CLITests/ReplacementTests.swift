import Foundation
import TestSupport
import Testing

/// A manifest that is replaced while its job is live: the old run ends as one that is cancelled, with a report in `history`, and
/// the new one begins, and reuses what the old one made. What ends in which state is in `EndingRunTests`.
@Suite(.blocking) struct ReplacementTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
  }

  private static let two = ["--downloads", "2", "--filters", "none", "--verbose", "--cache-size", "0"]

  private func line(_ number: Int, more: String = "") -> String {
    "{\"name\": \"n\(number)\", \"url\": \"\(server.url("\(number)"))\"\(more)}\n"
  }

  private func manifest(_ numbers: some Sequence<Int>) -> String { numbers.map { line($0) }.joined() }

  /// Starts a job of which one of the first two entries has a result while the other one and the third are in progress.
  /// - Returns: The process, and the numbers of the first two: of the one that has ended, and of the other.
  private func start(_ manifest: String, _ more: [String] = []) throws -> (DarkroomProcess, ended: Int, other: Int) {
    try folders.drop("job.jsonl", manifest)
    let watch = try folders.start("watch", Self.two + more)
    #expect(try Set([server.nextRequest(), server.nextRequest()]) == ["/0", "/1"])
    try server.release(1)
    let ended = try #require(try watch.waitForLine(containing: ": filtered")).contains("n0") ? 0 : 1
    #expect(try server.nextRequest() == "/2")
    return (watch, ended, 1 - ended)
  }

  private func replace(_ watch: DarkroomProcess, by manifest: String) throws {
    try folders.drop("job.jsonl", manifest)
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
  }

  /// Waits for more than two scans.
  private func waitForScans(_ watch: DarkroomProcess) throws {
    for _ in 0..<4 {
      watch.send(SIGHUP)
      #expect(try watch.waitForLine(containing: "configuration") != nil)
    }
  }

  /// The names of the rows of an `entries.jsonl`, in their order.
  private func logged(_ folder: String) throws -> [String] {
    try folders.objects(folder + "/entries.jsonl").compactMap { $0["name"] as? String }
  }

  @Test func `what is under way and wanted ends, the rest is cancelled, and the new report has every row`() throws {
    let (watch, ended, other) = try start(manifest(0..<12), ["--json"])
    let numbers = [20, 11, 10, 9, 8, 7, 2, ended, 21]
    try replace(watch, by: manifest(numbers))
    try server.release(40)
    #expect(try watch.waitForLine(containing: "job: succeeded: 9 filtered") != nil)
    let events = try watch.stop().output
    let asked = try server.requestsSoFar()
    #expect(asked.sorted() == [20, 11, 10, 9, 8, 7, 21].map { "/\($0)" }.sorted(), "nothing twice, nothing that left")

    let report = try folders.validReport("job")
    #expect(report.counts == Report.Counts(total: 9, filtered: 9, reused: 2) && report.state == "succeeded")
    #expect(report.entries.map(\.name) == numbers.map { "n\($0)" })
    #expect(report.entries.filter { $0.reused == true }.map(\.name) == ["n2", "n\(ended)"])
    #expect(try logged("job").sorted() == report.entries.map(\.name).sorted())
    let old = try #require(try folders.history("job").first)
    let names = old.entries.map(\.name)
    // What left and was under way may have ended before it was cancelled.
    #expect(old.state == "superseded" && Set(names).subtracting(["n\(other)"]) == ["n2", "n\(ended)"])
    #expect(old.entries.allSatisfy { $0.state == "filtered" })
    #expect(old.counts == Report.Counts(total: 12, filtered: names.count, cancelled: 12 - names.count))
    #expect(try logged("job/history/\(old.run_id)").sorted() == names.sorted())
    let told = events.split(separator: "\n").filter { $0.contains(#""event":"entry-ended""#) }
    #expect(told.count == names.count + 9 && !told.contains { $0.contains("cancelled") })
    #expect(try folders.inboxNames().isEmpty && folders.staged().isEmpty)
    try folders.checkOutbox(["--done"])
  }

  @Test func `what does not end within 10 s is cancelled and asked for again, and of nothing there is no report`()
    throws
  {
    try folders.drop("job.jsonl", manifest([0]))
    let watch = try folders.start("watch", Self.two)
    #expect(try server.nextRequest() == "/0")
    let began = ContinuousClock.now
    try replace(watch, by: manifest([0, 1]))
    #expect(try Set([server.nextRequest(), server.nextRequest()]) == ["/0", "/1"])
    #expect(ContinuousClock.now - began > .seconds(9))
    try server.release(9)
    #expect(try watch.waitForLine(containing: "job: succeeded: 2 filtered") != nil)
    try watch.stop()
    #expect(try folders.report("job").entries.allSatisfy { $0.attempts == 1 && $0.reused == nil })
    #expect(!folders.exists("job/history"))
    try folders.checkOutbox(["--done"])
  }

  @Test func `a replacement that is rejected changes nothing, and its report goes to history`() throws {
    let (watch, _, _) = try start(manifest(0..<6))
    try folders.drop("job.jsonl", "{\"name\": 7}\n")
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    try waitForScans(watch)
    #expect(try folders.inboxNames().isEmpty, "the new manifest has gone, and that removes nothing")
    // Nor for the next process.
    watch.send(SIGTERM)
    #expect(try watch.waitForLine(containing: "stopping") != nil)
    try server.release(20)
    #expect(try watch.finish().status == 0)
    #expect(try folders.history("job").map(\.state) == ["rejected"])
    #expect(try folders.run(Self.two).status == 0)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 6, filtered: 6) && report.state == "succeeded")
    #expect(try server.requestsSoFar().sorted() == ["/3", "/4", "/5"])
    #expect(try folders.history("job").map(\.state) == ["rejected"])
  }

  @Test func `the same bytes again are no replacement`() throws {
    let (watch, _, _) = try start(manifest(0..<4))
    try folders.drop("job.jsonl", manifest(0..<4))
    try waitForScans(watch)
    try server.release(9)
    #expect(try watch.waitForLine(containing: "job: succeeded: 4 filtered") != nil)
    let said = try watch.stop().error
    #expect(!said.contains("replaced") && !folders.exists("job/history"), "\(said)")
    #expect(try server.requestsSoFar() == ["/3"])
    #expect(try folders.inboxNames().isEmpty)
  }

  @Test func `a changed recipe over a source that is there filters without downloading`() throws {
    let (watch, ended, other) = try start(manifest(0..<3), ["--cache-size", "1M"])
    let changed = line(ended, more: #", "filters": "sepia(0.2)""#)
    try replace(watch, by: changed + manifest([other, 2]))
    try server.release(9)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    try watch.stop()
    #expect(try server.requestsSoFar() == [])
    let rows = try folders.report("job").entries
    #expect(rows.map(\.filters) == ["sepia(0.2)", "none", "none"] && rows.map(\.reused) == [nil, true, true])
  }

  @Test func `what the old run made counts for what comes after it, and of its variants each for itself`() throws {
    let variants = #", "variants": [{"name": "x"}, {"name": "y", "format": "webp"}]"#
    let (watch, ended, other) = try start(line(0, more: variants) + line(1, more: variants) + line(2))
    try replace(
      watch,
      by: line(7, more: #", "after": "n\#(ended)""#) + line(8, more: #", "after": ["n7", "n\#(other)"]"#)
        + line(ended, more: variants.replacing("webp", with: "png")) + line(other, more: variants))
    try server.release(20)
    #expect(try watch.waitForLine(containing: "job: succeeded: 6 filtered") != nil)
    try watch.stop()
    // What waits for the download of its entry's first variant has not begun.
    #expect(try server.requestsSoFar().filter { !["/0", "/1"].contains($0) } == ["/7", "/8"])
    let rows = try folders.report("job").entries
    #expect(rows.map(\.index) == [0, 1, 2, 2, 3, 3])
    #expect(rows.map(\.variant) == [nil, nil, "x", "y", "x", "y"])
    #expect(rows.prefix(5).map(\.reused) == [nil, nil, true, nil, true])
    try folders.checkOutbox(["--done"])
  }

  @Test func `of several manifests that wait the newest counts`() throws {
    let (watch, ended, _) = try start(manifest(0..<6))
    try replace(watch, by: manifest([30, 2, ended]))
    try folders.drop("job.jsonl", manifest([9, ended, 2]))
    #expect(try watch.waitForLine(containing: "job: planning") != nil)
    try server.release(40)
    #expect(try watch.waitForLine(containing: "job: succeeded: 3 filtered") != nil)
    try watch.stop()
    // The second may have begun by the time at which the third is planned.
    #expect(try server.requestsSoFar().filter { $0 != "/30" } == ["/9"])
    #expect(try folders.report("job").entries.map(\.name) == ["n9", "n\(ended)", "n2"])
    #expect(try folders.history("job").allSatisfy { $0.state == "superseded" && !$0.entries.isEmpty })
    try folders.checkOutbox(["--done"])
  }

  @Test(arguments: [false, true])
  func `after kill -9 the old run is closed first, then the newest manifest begins`(isClosing: Bool) throws {
    let (watch, ended, other) = try start(manifest(0..<6))
    let numbers = [9, ended, other, 2, 5]
    if isClosing { try replace(watch, by: manifest(numbers)) }
    try watch.kill()
    if !isClosing { try folders.drop("job.jsonl", manifest(numbers)) }
    // So that nothing more of the old run starts.
    try folders.drop("x.lock", "")
    let next = try folders.start("run", Self.two)
    #expect(try next.waitForLine(containing: "job: 5 entries") != nil)
    try folders.unlock()
    try server.release(40)
    try next.finish().expect(status: 0)
    let report = try folders.validReport("job")
    #expect(report.counts == Report.Counts(total: 5, filtered: 5, reused: 1))
    #expect(report.entries.map(\.name) == numbers.map { "n\($0)" })
    #expect(try server.requestsSoFar().sorted() == [other, 2, 5, 9].map { "/\($0)" })
    let old = try folders.history("job")
    #expect(old.map(\.state) == ["superseded"] && old.first?.entries.map(\.name) == ["n\(ended)"])
    #expect(old.first?.counts == Report.Counts(total: 6, filtered: 1, cancelled: 5))
    try folders.checkOutbox(["--done"])
  }
}
