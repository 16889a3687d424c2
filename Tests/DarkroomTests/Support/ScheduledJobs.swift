import Scheduling
import System
import Transfer

@testable import Darkroom
@testable import JobIndex
@testable import Model

/// An `EntryScheduler` over indexes in memory. Downloads end when the test says so.
final class ScheduledJobs {
  let scheduler = EntryScheduler()
  private static let backoff = Backoff(retries: 3)

  init() {}

  /// One job, run 1, over an index whose hosts are prepared.
  init(_ index: JobIndex) { scheduler.add(run: 1, index) }

  /// Adds a job.
  /// - Parameter entries: The host of each, empty for a file, and its priority's rank.
  func add(_ run: Int, _ entries: [(host: String, rank: Int)], ended: Set<Int> = []) throws {
    let entries = try entries.enumerated().map { position, entry in
      try Entry.sample(
        position, url: entry.host.isEmpty ? "a.jpg" : "http://\(entry.host)/",
        priority: Entry.Priority.allCases[entry.rank])
    }
    try add(run, entries, ended: ended)
  }

  /// Adds a job of entries of the same priority, each with its URLs.
  func add(_ run: Int, urls: [[String]]) throws {
    try add(run, urls.enumerated().map { try Entry.sample($0, urls: $1) }, ended: [])
  }

  private func add(_ run: Int, _ entries: [Entry], ended: Set<Int>) throws {
    let index = try JobIndex(creating: .memory)
    try index.fill {
      for entry in entries { try index.insert(entry) }
      for position in ended { try index.markEnded(position) }
    }
    try index.prepareHosts()
    scheduler.add(run: run, index)
  }

  /// Starts one entry.
  func next(perHost: HostLimit = 2, now: Int = 0, lowest: Int = 4) throws -> EntryScheduler.Next? {
    try scheduler.next(now: now, perHost: perHost, lowest: lowest)
  }

  /// Starts all that may start now: runs and positions.
  func startAll(perHost: HostLimit = 2, now: Int = 0, lowest: Int = 4) throws -> [PhotoRecord.ID] {
    var started: [PhotoRecord.ID] = []
    repeat {
      while let next = try next(perHost: perHost, now: now, lowest: lowest) { started.append(next.id) }
      // Of what is deferred and due, one page is looked at in each round.
    } while scheduler.nextChange.map { $0 <= now } ?? false
    return started
  }

  /// The same for one job: positions.
  func start(perHost: HostLimit = 2, now: Int = 0) throws -> [Int] {
    try startAll(perHost: perHost, now: now).map(\.position)
  }

  /// Works through all that is left, as if every download ended at once.
  func everything() throws -> [Int] {
    var positions: [Int] = []
    while let next = try next(perHost: 1) {
      positions.append(next.entry.position)
      finish(next.entry.position, run: next.run)
    }
    return positions
  }

  /// The download of an entry has ended.
  @discardableResult
  func downloadEnded(
    _ position: Int, run: Int = 1, _ answer: HostScheduler.Answer = .served, _ usage: HostUsage = HostUsage(),
    now: Int = 0
  ) -> Double? {
    let id = PhotoRecord.ID(run: run, position: position)
    return scheduler.downloadEnded(id, usage, answer, now: now, backoff: Self.backoff)
  }

  /// An entry has ended, after its download.
  func finish(_ position: Int, run: Int = 1, now: Int = 0) {
    downloadEnded(position, run: run, now: now)
    scheduler.finished(PhotoRecord.ID(run: run, position: position), now: now)
  }

  /// An entry whose download has ended is to be tried again.
  func retry(_ position: Int, run: Int = 1, attempts: Int?, isRefused: Bool = false, due: Int, now: Int = 0) {
    let id = PhotoRecord.ID(run: run, position: position)
    scheduler.retry(id, attempts: attempts, isRefused: isRefused, due: due, now: now)
  }

  /// An entry whose download has ended goes on to its next mirror.
  func useMirror(_ position: Int, run: Int = 1, _ url: String, attempts: Int, now: Int = 0) throws {
    try scheduler.useMirror(PhotoRecord.ID(run: run, position: position), url, now: now) {
      $0.use($0.mirror + 1, attempts: attempts, after: nil, isRetryable: false, isPassedOver: false)
    }
  }

  func uncounted(_ position: Int, run: Int = 1) -> Int {
    scheduler.uncounted(PhotoRecord.ID(run: run, position: position))
  }

  func heldHosts(run: Int = 1, now: Int) -> [String] {
    scheduler.heldHosts(run: run, now: now, limit: 9).hosts.map(\.name)
  }

  /// Ends an entry of run 1 whose host has answered.
  func answer(_ position: Int, now: Int) {
    let usage = HostUsage(isOwn: true, contact: .answered(firstByte: nil, isMultiplexed: false))
    downloadEnded(position, .served, usage, now: now)
    scheduler.finished(PhotoRecord.ID(run: 1, position: position), now: now)
  }

  /// Ends the download of an entry of run 1 whose host has failed.
  func fail(_ position: Int, _ failure: HostBreaker.Failure = .refused, now: Int) {
    let error = EntryFailure(
      code: .download(.connect), message: "\(failure)", disposition: .retry(after: nil), hostFailure: failure)
    _ = scheduler.downloadEnded(
      PhotoRecord.ID(run: 1, position: position), HostUsage(isOwn: true, contact: .failed(failure)), .none,
      failure: error, now: now, backoff: Self.backoff)
  }
}

extension HostUsage {
  /// What a download says of its host.
  static func contact(_ contact: HostScheduler.Contact) -> HostUsage { HostUsage(isOwn: true, contact: contact) }

  /// What a download with one request took.
  static func request(reused: Int = 0, bytes: Int = 0, milliseconds: Int = 0) -> HostUsage {
    var usage = HostUsage()
    (usage.milliseconds, usage.bytes) = (milliseconds, bytes)
    usage.requests = RequestCount(sent: 1, reused: reused)
    return usage
  }
}
