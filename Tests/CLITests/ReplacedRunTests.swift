import Foundation
import TestSupport
import Testing

/// Manifests that are replaced at bad moments: again while the first replacement is not over, when the job has just ended,
/// and with an index that cannot be read.
@Suite(.blocking) struct ReplacedRunTests {
  private let folders: DarkroomFolders
  private let server: GatedServer

  init() throws {
    folders = try DarkroomFolders()
    server = try GatedServer(serving: packageRoot + "/Samples/chelsea-small.png")
  }

  private static let options = ["--filters", "none", "--verbose", "--cache-size", "0", "--downloads", "2"]

  private func manifest(_ names: some Sequence<Int>, filler: String = "") -> String {
    names.map { "{\"name\": \"n\($0)\", \"url\": \"\(server.url("\($0)"))\", \"_\": 1, \"metadata\": \"\(filler)\"}\n" }
      .joined()
  }

  private func requests(_ count: Int) throws -> Set<String> {
    Set(try (0..<count).map { _ in try server.nextRequest() })
  }

  /// The states of the reports in `history`.
  private func history() throws -> [String] {
    let folder = folders.outbox + "/job/history"
    return try ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).map { run in
      try JSONDecoder().decode(Report.self, from: folders.contents("job/history/\(run)/report.json")).state
    }
  }

  /// Waits for lines, in any order.
  private func wait(for watch: DarkroomProcess, _ texts: String...) throws {
    var awaited = texts
    while !awaited.isEmpty {
      let line = try #require(try watch.waitForLine(containing: "job: "), "\(awaited)")
      if let found = awaited.firstIndex(where: line.contains) { awaited.remove(at: found) }
    }
  }

  private func end(_ watch: DarkroomProcess) throws {
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
    let check = try DarkroomProcess.run(script: "\(packageRoot)/script/check-outbox outbox", in: folders.folder)
    #expect(check.status == 0, "\(check.output)")
  }

  @Test func `a third manifest waits for nothing, and what all three have goes on from the first`() throws {
    try folders.drop("job.jsonl", manifest(0..<6))
    let watch = try folders.start("watch", Self.options)
    #expect(try requests(2) == ["/0", "/1"])
    try folders.drop("job.jsonl", manifest([5, 4, 1]))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    // In the place of what is gone.
    #expect(try requests(1) == ["/5"])
    // What goes on in the first run has not ended.
    try folders.drop("job.jsonl", manifest([9, 1, 5]))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    try server.release(20)
    try wait(for: watch, "job: superseded: ", "job: superseded: ", "job: succeeded: 3 filtered")
    try end(watch)
    try server.note("end")
    // Entry 4 may have begun in between.
    var asked: [String] = []
    while asked.last != "/end" { asked += try requests(1) }
    #expect(asked.filter { $0 != "/4" } == ["/9", "/end"], "nothing is asked for twice")
    #expect(try folders.report("job").entries.map(\.name) == ["n9", "n1", "n5"])
    #expect(try history() == ["superseded", "superseded"])
  }

  @Test func `what has not begun in a run that was replaced does not wait for what has`() throws {
    try folders.drop("job.jsonl", manifest(0..<6))
    let watch = try folders.start("watch", Self.options)
    #expect(Set(try requests(2)) == ["/0", "/1"])
    try folders.drop("job.jsonl", manifest(0..<7))
    #expect(try watch.waitForLine(containing: "job: 7 entries") != nil)
    try folders.drop("job.jsonl", manifest(100..<30_100) + "[]\n")
    #expect(try watch.waitForLine(containing: "job: planning") != nil)
    // It makes room for what waits in the queue, while it is not known whether that is wanted.
    try server.release(1)
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    // The other one is not answered yet.
    var asked: Set<String> = []
    for _ in 2...6 {
      asked.formUnion(try requests(1))
      try server.release(1)
    }
    #expect(asked == ["/2", "/3", "/4", "/5", "/6"])
    try server.release(1)
    #expect(try watch.waitForLine(containing: "job: succeeded: 7 filtered") != nil)
    #expect(try folders.report("job").entries.allSatisfy { $0.attempts == 1 })
    watch.send(SIGTERM)
    #expect(try watch.finish().status == 0)
  }

  @Test func `a replacement that is rejected after the job has ended leaves its report`() throws {
    try folders.drop("job.jsonl", manifest(0..<1))
    let watch = try folders.start("watch", Self.options)
    #expect(try watch.waitForLine(containing: "job: planning") != nil)
    #expect(try requests(1) == ["/0"])
    // It is planned for longer than the job takes.
    try folders.drop("job.jsonl", manifest(1..<20_000) + "{\"name\": 7}\n")
    #expect(try watch.waitForLine(containing: "job: planning") != nil)
    try server.release(1)
    #expect(try watch.waitForLine(containing: "job: rejected") != nil)
    try end(watch)
    // It may have been rejected before.
    #expect(try Set(history() + [folders.report("job").state]) == ["succeeded", "rejected"])
  }

  @Test func `when the new manifest's index cannot be read, the old run ends, and the new one is planned again`() throws
  {
    let filler = String(repeating: "x", count: 3000)
    try folders.drop("job.jsonl", manifest(0..<200, filler: filler))
    let watch = try folders.start("watch", Self.options)
    #expect(try requests(2) == ["/0", "/1"])
    let first = try indexes()
    try folders.drop("job.jsonl", manifest([1] + Array(150..<300), filler: filler))
    #expect(try watch.waitForLine(containing: "job: its manifest was replaced") != nil)
    for index in try indexes().subtracting(first) { try damage(index) }
    try server.release(100_000)
    #expect(try watch.waitForLine(containing: "is tried again") != nil)
    try wait(for: watch, "job: superseded: ", "job: succeeded: 151 filtered")
    try end(watch)
    #expect(try folders.report("job").entries.map(\.name) == (["n1"] + (150..<300).map { "n\($0)" }))
    #expect(try history() == ["superseded"])
  }

  private func indexes() throws -> Set<String> {
    let jobs = folders.outbox + "/.darkroom/jobs"
    let names = try FileManager.default.contentsOfDirectory(atPath: jobs).filter { $0.hasSuffix(".index") }
    return Set(names.map { jobs + "/" + $0 })
  }

  private func damage(_ index: String) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: index))
    let size = try file.seekToEnd()
    try file.seek(toOffset: 4096)
    try file.write(contentsOf: Data(repeating: 0xff, count: Int(size) - 4096))
    try file.close()
  }
}
