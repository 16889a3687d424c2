import Testing
import TestSupport

@testable import Darkroom
@testable import Model
@testable import Transfer

/// What broken downloads have left, while their entries wait for the next try.
@Suite struct KeptPartialsTests {
  private let jobs = ScheduledJobs()
  private let root: TemporaryFolder
  private let staging: Staging

  init() throws {
    root = try TemporaryFolder()
    staging = Staging(folder: root.path, runID: "run-0001")
  }

  /// Adds a job whose entries have all been tried, and wait.
  private func add(_ run: Int, entries: Int) throws {
    try jobs.add(run, Array(repeating: ("", 2), count: entries))
    for id in try jobs.startAll(perHost: 1000) {
      jobs.downloadEnded(id.position, run: run)
      jobs.retry(id.position, run: run, attempts: 1, due: 1000)
    }
  }

  /// Has the scheduler keep what a download has left.
  private func keep(_ bytes: Int, of position: Int, run: Int) throws {
    let name = "\(run)-\(position)"
    try root.write("", as: name)
    let body = PartialBody()
    let source = PartialBody.Source(
      validator: "\"1\"", urlDigest: "", total: nil, etag: nil, lastModified: nil, forbidsStoring: false)
    body.keep(PartialBody.Content(source: source, digests: BodyDigests(for: nil), bytes: bytes))
    let partial: PartialDownload = try #require(PartialDownload(body, name, in: staging))
    jobs.scheduler.keep(partial, of: PhotoRecord.ID(run: run, position: position))
  }

  @Test func `256 are kept of all jobs together, and the files of others are removed`() throws {
    for run in 1...3 { try add(run, entries: 100) }
    for position in 0..<100 {
      for run in 1...3 { try keep(1, of: position, run: run) }
    }
    #expect(try root.names().count == 256)
    jobs.scheduler.dropPartials(run: 2)
    #expect(try root.names().allSatisfy { !$0.hasPrefix("2-") })
    try keep(1, of: 99, run: 1)
    #expect(try root.names().contains { $0.hasPrefix("1-99-") })
    jobs.scheduler.dropPartials()
    #expect(try root.names().isEmpty)
  }

  @Test func `a gibibyte is kept of all jobs together`() throws {
    for run in 1...2 { try add(run, entries: 3) }
    for position in 0..<3 {
      for run in 1...2 { try keep(position < 2 ? 400 << 20 : 112 << 20, of: position, run: run) }
    }
    #expect(try Set(root.names().map { $0.prefix(3) }) == ["1-0", "2-0", "1-2", "2-2"])
  }
}
