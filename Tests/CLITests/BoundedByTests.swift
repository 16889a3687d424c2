import Foundation
import TestSupport
import Testing

/// The report tells what kept a run from being faster.
///
/// Shares of time are what is tested, so each run is kept in one state for longer than all of the rest took or takes: time
/// is not what the tests wait for.
@Suite(.blocking) struct BoundedByTests {
  private struct Bound: Decodable, Equatable {
    let cause: String
    var name: String?
    var share: Double?
    var option: String?
    var limit: Int?
  }

  private struct Head: Decodable {
    let bounded_by: [Bound]?
  }

  private struct Live: Decodable {
    struct Job: Decodable { let bounded_by_now: Bound? }
    let jobs: [Job]
  }

  private let folders: DarkroomFolders
  private let began = ContinuousClock.now

  init() throws { folders = try DarkroomFolders() }

  /// What the report of a job says, which follows the schema.
  private func bounds() throws -> [Bound] {
    let data = try folders.contents("job/report.json")
    #expect(try ReportSchema.violations(of: data) == "")
    let bounds = try JSONDecoder().decode(Head.self, from: data).bounded_by ?? []
    #expect(bounds.reduce(0) { $0 + ($1.share ?? 2) } <= 1.000_001, "\(bounds)")
    return bounds
  }

  /// Waits until the status says that a job is bounded by something, then for longer than it has taken until then, so that this
  /// is the most of its time.
  private func hold(_ cause: String) throws {
    let path = folders.outbox + "/.darkroom/status.json"
    let deadline = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < deadline {
      let live = FileManager.default.contents(atPath: path).flatMap { try? JSONDecoder().decode(Live.self, from: $0) }
      if live?.jobs.first?.bounded_by_now?.cause == cause { break }
      Thread.sleep(forTimeInterval: 0.02)
    }
    try #require(ContinuousClock.now < deadline, "bounded by \(cause)")
    let before = began.duration(to: .now) / .seconds(1)
    Thread.sleep(forTimeInterval: max(1.5, min(30, 1.2 * before)))
  }

  @Test func `the limit of a host leads, by the name of the host`() throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    try folders.drop("job.txt", (0..<4).map { server.url("\($0)") + "\n" }.joined())
    let run = try folders.start("run", ["--filters", "none", "--per-host", "1", "--json"])
    #expect(try server.nextRequest() == "/0")
    try hold("host")
    try server.release(4)
    let ended = try run.finish().expect(status: 0)
    let first = try #require(try bounds().first)
    #expect(first.cause == "host" && first.option == "--per-host" && first.limit == 1, "\(first)")
    #expect(first.name?.hasPrefix("http://127.0.0.1:") == true)
    // The event has the same, and both follow their schemas.
    let event = try #require(ended.output.split(separator: "\n").first { $0.contains(#""event":"job-ended""#) })
    struct Ended: Decodable { let bounded_by: [Bound] }
    #expect(try JSONDecoder().decode(Ended.self, from: Data(event.utf8)).bounded_by == bounds())
    #expect(try JSONSchema.violations(ofDocument: Data(event.utf8), name: "events.schema.json") == "")
  }

  /// - Parameter hosts: Names of the loopback interface, each with an entry.
  @Test(arguments: [
    (["127.0.0.1", "localhost", "127.0.0.1", "localhost"], ["--downloads", "1"], "downloads", "--downloads"),
    (["127.0.0.1"], [], "servers", nil),
  ])
  func `places lead for which several hosts wait, and servers where nothing of the program's holds anything back`(
    hosts: [String], options: [String], cause: String, option: String?
  ) throws {
    let server = try GatedServer(serving: packageRoot + "/Samples/coffee.jpg")
    let urls = hosts.enumerated().map { server.url("\($0)").replacing("127.0.0.1", with: $1) + "\n" }
    try folders.drop("job.txt", urls.joined())
    let run = try folders.start("run", ["--filters", "none"] + options)
    _ = try server.nextRequest()
    try hold(cause)
    try server.release(hosts.count)
    try run.finish().expect(status: 0)
    let first = try #require(try bounds().first)
    #expect(first.cause == cause && first.option == option && first.limit == (option == nil ? nil : 1), "\(first)")
    #expect(option != nil || first.name?.hasPrefix("http://127.0.0.1:") == true)
  }

  @Test func `a lock leads, by its name`() throws {
    try Data("why\n".utf8).write(to: URL(fileURLWithPath: folders.inbox + "/deploy.lock"))
    try folders.drop("job.txt", "coffee.jpg\n")
    let run = try folders.start("run", ["--filters", "none"])
    try hold("pause")
    try FileManager.default.removeItem(atPath: folders.inbox + "/deploy.lock")
    #expect(try run.finish().status == 0)
    let first = try #require(try bounds().first)
    #expect(first.cause == "pause" && first.name == "deploy.lock" && first.option == nil, "\(first)")
  }

  @Test func `a rate leads that is lower than what the server sends`() throws {
    let server = try Nginx(serving: packageRoot + "/Samples")
    try folders.drop("job.txt", (0..<4).map { server.url("hubble-deep-field.jpg?\($0)") + "\n" }.joined())
    try folders.run(["--filters", "none", "--max-rate", "200K", "--per-host", "8"]).expect(status: 0)
    let first = try #require(try bounds().first)
    #expect(first.cause == "rate" && first.option == "--max-rate" && first.limit == 200 << 10, "\(first)")
  }

  @Test func `filtrations lead when all may run and more wait`() throws {
    let entries = (0..<4000).map {
      #""\#($0)": {"url": "chelsea.jpg", "filters": "blur(2px) brightness(\#($0 + 1))"}"#
    }
    try folders.drop("job.json", "{" + entries.joined(separator: ",") + "}")
    let run = try folders.start("run", ["--filtrations", "1"])
    let cause = ProcessInfo.processInfo.activeProcessorCount > 1 ? "filtrations" : "processors"
    try hold(cause)
    #expect(try folders.ask("cancel", ["job"]).status == 0)
    _ = try run.finish()
    let first = try #require(try bounds().first)
    if ProcessInfo.processInfo.activeProcessorCount > 1 {
      #expect(first.cause == "filtrations" && first.option == "--filtrations" && first.limit == 1, "\(first)")
    } else {
      #expect(first.cause == cause, "\(first)")
    }
  }
}
