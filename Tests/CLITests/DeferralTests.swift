import Foundation
import TestSupport
import Testing

/// `--retry-for`: what may pass is tried again at growing intervals.
@Suite(.blocking) struct DeferralTests {
  private let server: FlakyServer
  private let folders: DarkroomFolders

  init() throws {
    server = try FlakyServer()
    folders = try DarkroomFolders()
  }

  private static let timeStyle = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  private func times(of path: String, _ requests: [FlakyServer.Request]) -> [Double] {
    requests.filter { $0.path == path }.map(\.time)
  }

  @Test func `an entry is tried until its server answers, holds no place meanwhile, and fails when it is too old`()
    throws
  {
    let paths = [
      "gone?" + Array(repeating: "500", count: 99).joined(separator: ","), "back?500,408,500", "a?", "no?404",
    ]
    try folders.drop("job.txt", paths.map { server.url($0) + "\n" }.joined())
    let run = try folders.start("run", ["--retry-for", "12s", "--downloads", "1", "--filters", "none", "--json"])
    let requests = try (0..<4).map { _ in try server.nextRequest() }
    #expect(requests.map(\.path) == ["/gone", "/back", "/a", "/no"], "nothing waits for what is deferred")
    let finished = try run.finish().expect(status: 1)
    let rows = try folders.report("job").entries
    #expect(rows.map(\.state) == ["failed", "filtered", "filtered", "failed"])
    #expect(rows[0].error?.code == "http-status" && rows[0].attempts >= 5)
    let report = try folders.report("job")
    let seen = try Date(#require(rows[0].error?.first_seen), strategy: Self.timeStyle)
    #expect(
      try seen.timeIntervalSince(Date(report.started_at, strategy: Self.timeStyle)) < 6, "the first try, not the last")
    #expect(rows[1].attempts == 4)
    #expect(rows[3].attempts == 1, "a failure that is final is not tried again")
    var later: [FlakyServer.Request] = []
    for _ in 0..<2 + rows[0].attempts { later.append(try server.nextRequest()) }
    let gone = times(of: "/gone", requests + later)
    #expect(gone[1] - gone[0] >= 0.6, "the first interval is a tenth of the time")
    #expect((gone.last ?? 0) - gone[0] >= 11, "the last try comes at the end")
    #expect(gone[4] - gone[3] > gone[1] - gone[0])
    #expect(try JSONSchema.violations(of: Data(finished.output.utf8), name: "events.schema.json") == "")
    #expect(finished.output.contains(#""event":"entry-deferred""#))
    #expect(try folders.staged().isEmpty)
  }

  @Test func `status says that a newer manifest waits for the deferred entries of the older one`() throws {
    try folders.drop("job.txt", server.url("down?503") + "\n")
    let watch = try folders.start("watch", ["--retry-for", "1h", "--filters", "none"])
    #expect(try watch.waitForLine(containing: "down: deferred after try 1") != nil)
    try folders.drop("job.csv", "url\n" + server.url("up") + "\n")
    // The status is written once a second.
    let says = "job.csv waits until 1 deferred entry of the job has ended; the next is tried again at 20"
    let status = try eventually({ try folders.ask("status").output }, is: { $0.contains(says) })
    #expect(status.contains(says) && status.contains("queued: job.csv"), "\(status)")
    try watch.stop()
    let later = try folders.ask("status").output
    #expect(later.contains(says), "\(later)")
  }

  @Test func `all mirrors are tried before an entry is deferred, and again when it is due`() throws {
    let urls = [server.url("a?503"), server.url("b?404", host: "localhost")].map { "\"\($0)\"" }
    try folders.drop("job.json", #"{"x": {"url": [\#(urls.joined(separator: ", "))]}}"#)
    try folders.run(["--retry-for", "5", "--filters", "none"]).expect(status: 0)
    #expect(try (0..<3).map { _ in try server.nextRequest().path } == ["/a", "/b", "/a"])
    #expect(try folders.report("job").entries.first?.attempts == 3)
  }

  @Test func `more jobs of deferred entries than may be live keep no other from ending`() throws {
    let faults = Array(repeating: "500", count: 99).joined(separator: ",")
    for number in 0..<24 { try folders.drop("deferred \(number).txt", server.url("d\(number)?\(faults)") + "\n") }
    let arguments = ["watch"] + folders.options + ["--retry-for", "1h", "--jobs", "1", "--filters", "none"]
    // With so few descriptors four jobs may be live, and four times as many that only wait.
    let watch = try DarkroomProcess(
      script: "ulimit -n 64; exec darkroom \(arguments.map { "'\($0)'" }.joined(separator: " "))", in: folders.folder)
    for _ in 0..<24 { #expect(try watch.waitForLine(containing: "deferred after try 1") != nil) }
    try folders.drop("other.txt", server.url("other") + "\n")
    #expect(try watch.waitForLine(containing: "other: succeeded") != nil)
    // One of the first was set aside.
    try folders.ask("cancel", ["deferred 1"]).expect(status: 0)
    #expect(try watch.waitForLine(containing: "deferred 1: cancelled") != nil)
    try watch.stop()
    let status = try folders.ask("status").output
    #expect(status.contains("job deferred 0: waiting for the next start, 0 of 1, 1 deferred until 20"), "\(status)")
  }

  @Test func `after kill -9 a deferred entry waits on, and other jobs end beside it`() throws {
    try folders.drop("a.txt", server.url("slow?503,503") + "\n" + server.url("fast") + "\n")
    let options = ["--retry-for", "40", "--filters", "none"]
    let watch = try folders.start("watch", options)
    #expect(try watch.waitForLine(containing: "slow: deferred after try 1, the next in") != nil)
    let first = try (0..<2).map { _ in try server.nextRequest() }
    #expect(Set(first.map(\.path)) == ["/slow", "/fast"])
    // Its rows are committed after the deferral.
    try folders.drop("b.txt", server.url("other") + "\n")
    #expect(try watch.waitForLine(containing: "b: succeeded") != nil)
    let status = try folders.statusText()
    #expect(status.contains(#""deferred":1,"deferred_until":"20"#), "\(status)")
    #expect(try folders.ask("status").output.contains(", 1 deferred until 20"))
    try watch.kill()

    let run = try folders.start("run", options)
    #expect(try run.waitForLine(containing: "a: 2 entries, 1 of them already done, 1 deferred") != nil)
    try run.finish().expect(status: 0)
    let requests = try first + (0..<3).map { _ in try server.nextRequest() }
    #expect(Set(requests.map(\.path)) == ["/slow", "/fast", "/other"])
    let slow = times(of: "/slow", requests)
    #expect(slow.count == 3 && slow[1] - slow[0] >= 2.9, "three quarters of a tenth of the time")
    let report = try folders.report("a")
    #expect(report.counts == Report.Counts(total: 2, filtered: 2))
    #expect(report.entries.map(\.attempts) == [3, 1])
    #expect(try folders.contents("a/entries.jsonl").count { $0 == UInt8(ascii: "\n") } == 2)
  }

  @Test func `after kill -9 the other variants of a deferred entry wait with it, for its one download`() throws {
    let variants = #"[{"name": "a"}, {"name": "b"}, {"name": "c"}]"#
    try folders.drop("job.json", #"{"x": {"url": "\#(server.url("down?503"))", "variants": \#(variants)}}"#)
    let options = ["--retry-for", "1h", "--filters", "none", "--cache-size", "0"]
    let first = try folders.start("watch", options)
    #expect(try first.waitForLine(containing: "deferred after try 1") != nil)
    // Its rows are committed after the deferral.
    try folders.drop("other.txt", server.url("other") + "\n")
    #expect(try first.waitForLine(containing: "other: succeeded") != nil)
    try first.kill()
    let second = try folders.start("watch", options)
    #expect(try second.waitForLine(containing: "job: 3 entries, 1 deferred") != nil)
    try folders.drop("more.txt", server.url("more") + "\n")
    #expect(try second.waitForLine(containing: "more: succeeded") != nil)
    try second.stop()
    try AlteredLedger.alter(folders, "UPDATE deferred SET due_ms = due_ms - 3600000")
    try folders.run(options).expect(status: 0)
    #expect(try (0..<4).map { _ in try server.nextRequest().path } == ["/down", "/other", "/more", "/down"])
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 3, filtered: 3))
  }

  @Test func `what is deferred is tried anew when its manifest is replaced`() throws {
    let down = server.url("down?503") + "\n"
    try folders.drop("job.txt", down)
    let watch = try folders.start("watch", ["--retry-for", "1h", "--filters", "none", "--cache-size", "0"])
    #expect(try watch.waitForLine(containing: "down: deferred after try 1") != nil)
    try folders.drop("job.txt", server.url("new") + "\n" + down)
    #expect(try watch.waitForLine(containing: "job: succeeded: 2 filtered") != nil)
    try watch.stop()
    let asked = try (0..<3).map { _ in try server.nextRequest().path }
    #expect(asked.first == "/down" && asked.sorted() == ["/down", "/down", "/new"])
    #expect(try folders.report("job").entries.map(\.attempts) == [1, 1])
    #expect(!folders.exists("job/history"), "nothing had ended")
  }

  @Test func `run waits no longer than --max-duration, and the next start goes on`() throws {
    try folders.drop("job.txt", server.url("a?503") + "\n" + server.url("b") + "\n")
    let first = try folders.run(["--retry-for", "1h", "--max-duration", "6", "--filters", "none", "--verbose"])
    #expect(first.status == 75, "\(first.error)")
    #expect(first.error.contains("a: deferred after try 1"))
    #expect(!folders.exists("job/report.json"))
    let status = try folders.ask("status").output
    #expect(status.contains("job job: waiting for the next start, 1 of 2, 1 deferred until 20"), "\(status)")
    // Without --retry-for what is deferred is due.
    try folders.run(["--filters", "none"]).expect(status: 0)
    #expect(try (0..<3).map { _ in try server.nextRequest().path }.sorted() == ["/a", "/a", "/b"])
    #expect(try folders.report("job").entries.map(\.attempts) == [2, 1])
  }

  @Test func `a signal stops a run that waits for deferred entries at once`() throws {
    try folders.drop("job.txt", server.url("a?503") + "\n")
    let run = try folders.start("run", ["--retry-for", "2d"])
    #expect(try run.waitForLine(containing: "a: deferred after try 1, the next in") != nil)
    run.send(SIGTERM)
    #expect(try run.finish().status == 143)
  }
}
