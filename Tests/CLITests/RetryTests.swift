import Foundation
import TestSupport
import Testing

@Suite(.blocking) struct RetryTests {
  private let server: FlakyServer
  private let folders: DarkroomFolders

  init() throws {
    server = try FlakyServer()
    folders = try DarkroomFolders()
  }

  @Test func `what may pass is tried again, what will not is not, and the rows tell how often`() throws {
    let expected: [(path: String, attempts: Int, code: String?)] = [
      ("a?", 1, nil), ("b?500", 2, nil), ("c?408,500", 3, nil), ("d?425", 2, nil), ("e?404", 1, "http-status"),
      ("f?500,500,500", 3, "http-status"), ("g?500,408,425", 3, "http-status"), ("h?408,425", 3, nil),
      ("i?429:0,429:0,408,500", 5, nil),
    ]
    try folders.drop("job.txt", expected.map { server.url($0.path) + "\n" }.joined())
    try folders.run(["--retries", "2"]).expect(status: 1)
    let report = try folders.report("job")
    for (row, (path, attempts, code)) in zip(report.entries, expected) {
      #expect(row.attempts == attempts, "\(path)")
      #expect(row.error?.code == code, "\(path): \(row.error?.message ?? "")")
    }
    let tries = expected.reduce(0) { $0 + $1.attempts }
    #expect(report.transfers?.requests == tries)
    #expect(report.transfers?.retries == tries - expected.count)
    #expect(report.transfers?.hosts.map(\.host) == [host])
    #expect(try folders.staged().isEmpty)
  }

  /// The server's name and port.
  private var host: String { String(server.url("").dropLast()) }

  @Test(arguments: ["502", "503", "504", "reset", "half"])
  func `what the host is to blame for is tried again until it answers`(fault: String) throws {
    let faults = Array(repeating: fault, count: 4).joined(separator: ",")
    let urls = ["a", "b?" + faults, "c"] + (0..<6).map { "d\($0)?" + fault }
    try folders.drop("job.txt", urls.map { server.url($0) + "\n" }.joined())
    try folders.run(["--retries", "4"]).expect(status: 0)
    #expect(try folders.report("job").entries.allSatisfy { $0.attempts <= 5 })
  }

  @Test(arguments: ["500,500", "reset,half", "429:0,503", "half"])
  func `entries of one request are tried again together, and each gets its result once`(faults: String) throws {
    try folders.drop("job.txt", String(repeating: server.url("a?" + faults) + "\n", count: 8))
    try folders.run(["--retries", "9"]).expect(status: 0)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 8, filtered: 8))
    #expect(Set(report.entries.compactMap { $0.output?.file }).count == 8)
    #expect(Set(report.entries.map { $0.output?.sha256 }).count == 1)
    #expect(report.entries.filter { $0.coalesced != true }.count == 1)
    let lines = try String(decoding: folders.contents("job/entries.jsonl"), as: UTF8.self).split(separator: "\n")
    #expect(lines.count == 8)
    #expect(try folders.staged().isEmpty)
  }

  @Test func `a host that asks for a pause is put on hold, and others go on meanwhile`() throws {
    try folders.drop(
      "job.txt",
      ([server.url("first?429:2")] + (0..<4).map { server.url("held\($0)") }
        + (0..<20).map { server.url("other\($0)", host: "localhost") }).map { $0 + "\n" }.joined())
    let run = try folders.start("run", ["--retries", "1", "--per-host", "1", "--json"])
    let requests = try (0..<26).map { _ in try server.nextRequest() }
    let finished = try run.finish().expect(status: 0)
    let asked = try #require(requests.first { $0.path == "/first" }).time
    let next = requests.filter { $0.path == "/first" || $0.path.hasPrefix("/held") }.map(\.time).filter { $0 > asked }
    #expect(next.count == 5)
    #expect((next.min() ?? 0) - asked >= 2)
    #expect(requests.contains { $0.path.hasPrefix("/other") && $0.time > asked && $0.time < asked + 2 })
    let events = finished.output.split(separator: "\n").map(String.init)
    #expect(events.contains { $0.contains(#""event":"host-held""#) && $0.contains("\"host\":\"\(host)\"") })
    let opened = events.filter { $0.contains(#""event":"host-opened""#) }
    #expect(opened.count == 1 && opened[0].contains("\"host\":\"\(host)\""), "\(events)")
    let delays = events.filter { $0.contains(#""event":"entry-retry""#) }.compactMap {
      Double($0.split(separator: #""delay_s":"#).last?.prefix { $0.isNumber || $0 == "." } ?? "")
    }
    #expect(delays.count == 1 && delays.allSatisfy { $0 > 0 && $0 <= 2 }, "\(delays)")
    #expect(try JSONSchema.violations(of: Data(finished.output.utf8), name: "events.schema.json") == "")
  }

  @Test func `an entry that goes to its mirror without having been tried is no retry in the events`() throws {
    // Nobody listens there.
    let dead = "http://127.0.0.2:9/"
    let lines = (0..<200).map { #"{"url": ["\#(dead)\#($0)", "\#(server.url("\($0)"))"]}"# + "\n" }
    try folders.drop("job.jsonl", lines.joined())
    let finished = try folders.run(["--filters", "none", "--json"]).expect(status: 0)
    #expect(try folders.report("job").counts.filtered == 200)
    let retries = finished.output.split(separator: "\n").filter { $0.contains(#""event":"entry-retry""#) }
    #expect(!retries.isEmpty && retries.count < 200, "\(retries.count)")
    #expect(try JSONSchema.violations(of: Data(finished.output.utf8), name: "events.schema.json") == "")
  }

  @Test func `a URL that is refused while its host serves others fails by its own tries, and holds them no longer`()
    throws
  {
    let refused = server.url("refused?" + Array(repeating: "429:0", count: 99).joined(separator: ","))
    try folders.drop("job.txt", ([refused] + (0..<20).map { server.url("a\($0)") }).map { $0 + "\n" }.joined())
    try folders.run(["--retries", "1", "--per-host", "1"]).expect(status: 1)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: 21, filtered: 20, failed: 1))
    #expect(report.entries[0].attempts == 2 && report.entries[0].error?.http_status == 429)
  }

  @Test func `a row that others' refusals gave up says so`() throws {
    let urls = (0..<4).map { server.url("r\($0)?" + Array(repeating: "429:0", count: 9).joined(separator: ",")) }
    try folders.drop("job.txt", urls.map { $0 + "\n" }.joined())
    try folders.run(["--retries", "2", "--per-host", "1", "--downloads", "1"]).expect(status: 1)
    let rows = try folders.validReport("job").entries
    let given = rows.filter { $0.attempts < 3 }
    #expect(!given.isEmpty && given.allSatisfy { ($0.error?.host_refusals ?? 0) >= 3 }, "\(rows)")
    #expect(rows.filter { $0.attempts >= 3 }.allSatisfy { ($0.error?.host_refusals ?? 4) > $0.attempts })
  }

  @Test func `of a server with a limit on requests nothing is lost, and it is told once for each wait`() throws {
    let nginx = try Nginx(
      serving: packageRoot + "/Samples",
      directives: "location /limited/ { limit_req zone=one; limit_req_status 429; alias \(packageRoot)/Samples/; }",
      shared: "limit_req_zone $server_port zone=one:1m rate=20r/s;")
    try folders.drop(
      "job.txt", (0..<20).map { nginx.url("limited/coffee.jpg?\($0)") + "\n" }.joined())
    let run = try folders.run(["--retries", "3", "--filters", "none", "--json"]).expect(status: 0)
    let answers = try nginx.accessLog().map { $0.contains(" 429 ") }
    #expect(answers.count { !$0 } == 20)
    let waits = run.output.split(separator: "\n").count { $0.contains(#""event":"host-held""#) }
    #expect(waits >= 1 && waits <= answers.count { $0 }, "\(answers)")
    #expect(try folders.report("job").transfers?.requests == answers.count)
  }

  @Test func `a retry that waits holds no place, and is left to the next start by a signal`() throws {
    try folders.drop("job.txt", server.url("a?503:300") + "\n" + server.url("b", host: "localhost") + "\n")
    let run = try folders.start("run", ["--retries", "3", "--downloads", "1", "--verbose"])
    #expect(try run.waitForLine(containing: "b: filtered") != nil, "one place, and it is free")
    // The status is written once a second.
    let status = try eventually(
      { try folders.ask("status").output }, is: { $0.contains("\n\(host) is on hold until ") })
    #expect(status.contains(", 1 to be retried"), "\(status)")
    run.send(SIGTERM)
    let first = try run.finish().expect(status: 143)
    #expect(first.error.contains("\(host) is on hold for 300.0 s"))
    #expect(!folders.exists("job/report.json"))
    #expect(try folders.run().status == 0)
    #expect(try folders.report("job").counts == Report.Counts(total: 2, filtered: 2))
  }
}
