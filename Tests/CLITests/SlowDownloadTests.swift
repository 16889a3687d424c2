import Foundation
import TestSupport
import Testing

/// Servers that send a few bytes a second hold up nobody else.
@Suite(.blocking) struct SlowDownloadTests {
  private let folders: DarkroomFolders
  private let server: DripServer

  init() throws {
    folders = try DarkroomFolders()
    server = try DripServer()
  }

  /// Starts a job of URLs, with 1000 bytes a second as the limit below which a download leaves its place after half a second.
  private func start(_ urls: [String], _ options: [String]) throws -> DarkroomProcess {
    try folders.drop("job.txt", urls.map { $0 + "\n" }.joined())
    return try DarkroomProcess(
      ["run"] + folders.options + ["--filters", "none", "--verbose", "--low-speed", "100"] + options,
      environment: ["DARKROOM_TEST_SLOW_AFTER": "0.5"])
  }

  @Test(arguments: [(2...5, ["--downloads", "4"]), (1...1, [])])
  func `pictures that drip on all places, or on all of their host, leave them to others`(
    hosts: ClosedRange<Int>, options: [String]
  ) throws {
    let drips = (0..<(hosts.count == 1 ? 6 : 4)).map { "drip\($0)" }
    let others = (0..<30).map { "quick\($0)" }
    let dripping = drips.enumerated().map { server.url($1, host: "127.0.0.\(hosts.lowerBound + $0 % hosts.count)") }
    let urls = dripping + others.map { server.url($0) }
    let run = try start(urls, options)
    var ended: Set<String> = []
    while ended.count < others.count {
      let line = try #require(try run.waitForLine(containing: ": filtered"))
      ended.insert(String(try #require(line.split(separator: " ").dropLast().last).dropLast()))
    }
    #expect(ended == Set(others), "none of those that drip has ended")
    for _ in drips { _ = try server.nextDrip() }
    try folders.statusText()
    try server.open()
    try run.finish().expect(status: 0)
    let report = try folders.report("job")
    #expect(report.counts == Report.Counts(total: urls.count, filtered: urls.count))
    #expect(report.entries.map(\.attempts) == Array(repeating: 1, count: urls.count), "nobody was stopped")
  }

  @Test func `at most as many go on beside the places as there are`() throws {
    let hosts = ["localhost"] + (1...7).map { "127.0.0.\($0)" }
    let run = try start(hosts.map { server.url("drip", host: $0) }, ["--downloads", "2", "--per-host", "1"])
    struct Status: Decodable {
      struct Queues: Decodable { let download: Queue }
      struct Queue: Decodable {
        let limit: Int
        let running: Int
        let slow: Int?
      }
      let queues: Queues?
    }
    // Two have the places, two go on beside them; all are slow, and no other starts.
    let queue = try eventually(
      {
        let text = try folders.ask("status", ["--json"]).output
        return try JSONDecoder().decode(Status.self, from: Data(text.utf8)).queues?.download
      }, is: { $0?.slow == 4 })
    #expect(queue?.slow == 4 && queue?.limit == 4 && queue?.running == 4)
    let text = try folders.ask("status").output
    #expect(text.contains("downloads: 4 of 4 running, 4 slow, "), "\(text)")
    try server.open()
    try run.finish().expect(status: 0)
    #expect(try folders.report("job").counts.filtered == hosts.count)
  }

  @Test func `nothing is computed while a slow download goes on during a pause`() throws {
    let run = try start([server.url("drip")], [])
    _ = try server.nextDrip()
    let lock = folders.inbox + "/x.lock"
    try Data().write(to: URL(fileURLWithPath: lock))
    #expect(try run.waitForLine(containing: "paused: x.lock") != nil)
    func processorTime() throws -> Double {
      let fields = try String(contentsOfFile: "/proc/\(run.processID)/stat", encoding: .utf8).split(separator: " ")
      return [13, 14].reduce(0) { $0 + (Double(fields[$1]) ?? 0) } / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
    let before = try processorTime()
    Thread.sleep(forTimeInterval: 3)
    #expect(try processorTime() - before < 0.7)
    try server.open()
    try FileManager.default.removeItem(atPath: lock)
    #expect(try run.finish().status == 0)
  }

  @Test func `a rate that is given makes nobody slow`() throws {
    let urls = (0..<2).map { server.url("drip\($0)") } + [server.url("quick", host: "127.0.0.2")]
    let run = try start(urls, ["--downloads", "2", "--per-host", "2", "--max-rate", "128K"])
    for _ in 0..<2 { _ = try server.nextDrip() }
    // Several times of what would make them slow.
    Thread.sleep(forTimeInterval: 2)
    let status = try folders.ask("status").output
    #expect(status.contains("downloads: 2 of 2 running, 1 waiting"), "\(status)")
    try server.open()
    #expect(try run.finish().status == 0)
  }
}
