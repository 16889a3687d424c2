import Foundation
import TestSupport
import Testing

/// Jobs are live together: none waits for another that is large, held, or planned.
@Suite(.blocking) struct SeveralJobsTests {
  private let folders: DarkroomFolders
  private let server: SlowServer

  init() throws {
    folders = try DarkroomFolders()
    server = try SlowServer(seconds: 0.2)
  }

  private func urls(_ name: String, _ count: Int, host: String = "127.0.0.1") -> String {
    (0..<count).map { server.url("\(name)\($0)", host: host) + "\n" }.joined()
  }

  private func rows(_ job: String) throws -> Int {
    try folders.contents("\(job)/entries.jsonl").count { $0 == UInt8(ascii: "\n") }
  }

  /// Starts `watch` with a job of 5000 entries, of which some have begun.
  private func watchLargeJob(_ options: [String] = []) throws -> DarkroomProcess {
    let watch = try folders.start("watch", ["--filters", "none", "--grace", "0"] + options)
    try folders.drop("large.txt", urls("large", 5000))
    for _ in 0..<40 { #expect(try server.nextRequest().hasPrefix("/large")) }
    return watch
  }

  @Test(arguments: [6, 64])
  func `a job of three beside one of five thousand takes turns with it from its first request on`(perHost: Int) throws {
    let watch = try watchLargeJob(["--per-host", "\(perHost)"])
    try folders.drop("small.txt", urls("small", 3))
    // Requests are counted, and not what ends meanwhile: that depends on how soon a busy machine sees the new file.
    while try !server.nextRequest().hasPrefix("/small") {}
    var (small, large) = (1, 0)
    while small < 3 { if try server.nextRequest().hasPrefix("/small") { small += 1 } else { large += 1 } }
    // Requests that begin at the same moment come in any order.
    #expect(large <= 2 * perHost, "\(large) requests of the large job before the third of the small one")
    #expect(try watch.waitForLine(containing: "small: succeeded") != nil)
    try watch.stop()
    #expect(!folders.exists("large/report.json"))
  }

  @Test(arguments: [1, 16])
  func `a job whose only host refuses everything for a minute delays no other`(jobs: Int) throws {
    let watch = try folders.start("watch", ["--filters", "none", "--retries", "3", "--jobs", "\(jobs)"])
    try folders.drop("held.txt", urls("refused", 100, host: "localhost"))
    #expect(try watch.waitForLine(containing: " is on hold for") != nil)
    for job in ["a", "b", "c"] { try folders.drop("\(job).txt", urls(job, 6)) }
    for job in ["a", "b", "c"] { _ = try #require(try watch.waitForLine(containing: ": succeeded"), "\(job)") }
    let status = try folders.ask("status", ["--json"])
    #expect(status.output.contains(#""job":"held""#) && status.output.contains(#""held_hosts_total":1"#))
    try watch.stop()
    for job in ["a", "b", "c"] { #expect(try folders.report(job).counts.filtered == 6) }
  }

  @Test func `a small manifest is not kept waiting while a large one is planned`() throws {
    let watch = try folders.start("watch", ["--filters", "none", "--verbose"])
    let lines = (0..<200_000).map { #"{"url":"missing.png","name":"n\#($0)"}"# + "\n" }.joined()
    try folders.drop("large.jsonl", lines + #"{"url":"a","colour":1}"#)
    #expect(try watch.waitForLine(containing: "large: planning") != nil)
    try folders.drop("small.txt", "coffee.jpg\n")
    #expect(try watch.waitForLine(containing: "succeeded")?.contains("small") == true)
    #expect(!folders.exists("large/report.json"))
    try watch.stop()
  }

  @Test func `status lists all live jobs, and a stop leaves them for the next start, which completes them`() throws {
    let jobs = ["a", "b", "c"]
    for job in jobs { try folders.drop("\(job).txt", urls(job, 40)) }
    let first = try folders.start("run", ["--filters", "none", "--per-host", "2", "--grace", "5"])
    var begun: Set<Character> = []
    while begun.count < 3 { begun.insert(try server.nextRequest().dropFirst().first ?? "?") }
    let status = try folders.ask("status", ["--json"])
    #expect(try JSONSchema.violations(of: Data(status.output.utf8), name: "status.schema.json") == "")
    for job in jobs { #expect(status.output.contains(#""job":"\#(job)""#)) }
    first.send(SIGTERM)
    #expect(try first.finish().status == 143)
    for job in jobs { #expect(!folders.exists("\(job)/report.json")) }
    try folders.run(["--filters", "none", "--per-host", "64", "--downloads", "64"]).expect(status: 0)
    for job in jobs {
      let report = try folders.report(job)
      #expect(report.counts == Report.Counts(total: 40, filtered: 40))
      #expect(try rows(job) == 40)
      #expect(!folders.exists("\(job)/history"), "one run, one report")
    }
  }

  @Test func `live jobs with the same URLs ask for each of them once or twice, not once for each entry`() throws {
    let entries = (0..<40).map { #"{"url": "\#(server.url("same\($0 % 4)"))", "name": "n\#($0)"}"# + "\n" }.joined()
    for job in ["a", "b"] { try folders.drop("\(job).jsonl", entries) }
    try folders.run(["--filters", "none"]).expect(status: 0)
    try folders.drop("last.txt", server.url("last") + "\n")
    #expect(try folders.run(["--filters", "none"]).status == 0)
    var requests = 0
    while try server.nextRequest() != "/last" { requests += 1 }
    #expect(requests <= 8)
    for job in ["a", "b"] { #expect(try folders.report(job).counts.filtered == 40) }
  }

  @Test func `two manifests of one job are processed one after the other`() throws {
    try folders.drop("cats.txt", urls("text", 2))
    try folders.drop("cats.json", #"["\#(server.url("json"))"]"#)
    try folders.run(["--filters", "none"]).expect(status: 0)
    // Both may have the same time of modification.
    let requests = try (0..<3).map { _ in try server.nextRequest() }
    #expect(requests.first == "/json" || requests.last == "/json", "\(requests)")
    #expect(try folders.report("cats").counts.total == (requests.last == "/json" ? 1 : 2))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folders.outbox + "/cats/history").count == 1)
  }
}
