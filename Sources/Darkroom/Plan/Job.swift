import Foundation
import Ledger

/// A manifest being worked on: what is left to start, what is under way, what it has come to. It belongs to the thread
/// of `Darkroom`.
final class Job {
  let runID: String
  let name: String
  let manifest: JobManifest
  let index: JobIndex
  let folder: JobFolder
  let staging: Staging

  /// What earlier runs of the job delivered; nil when that is nothing.
  let reuse: Reuse?

  /// How many entries the manifest has.
  let total: Int

  /// What the rows that are durable add up to.
  private(set) var tally: JobTally

  private let work: JobWork

  /// - Parameter throttles: What earlier jobs of the process found out about hosts.
  init(_ job: LedgerJob, _ prepared: Preparation.Prepared, throttles: ThrottleMemory) throws {
    runID = job.runID
    name = job.name
    manifest = prepared.manifest
    index = prepared.index
    folder = prepared.folder
    staging = prepared.staging
    reuse = prepared.reuse
    tally = prepared.tally
    work = prepared.work
    work.memory = throttles
    total = try index.count()
  }

  /// When the job was accepted, in milliseconds since 1970.
  var started: Int { manifest.accepted }

  /// Whether every entry has its row.
  var isDone: Bool { tally.counts.total >= total }

  /// The next entry to start, and how often it was tried before; nil when there is none now.
  func next(perHost: Int) throws -> (entry: Entry, attempts: Int)? {
    guard let next = try work.next(now: Clock.steadyMilliseconds, perHost: perHost) else { return nil }
    return (try next.row.entry(mirror: next.mirror), next.attempts)
  }

  /// A download has ended, well or not: its host has room for another, unless it asked to be left alone.
  /// - Returns: How long the host will be left alone, in seconds, if that is new.
  func leave(_ record: PhotoRecord, backoff: Backoff) throws -> Double? {
    let live = record.snapshot
    return try work.leave(
      record.entry.position, live.usage, HostTurns.Answer(live), now: Clock.steadyMilliseconds, backoff: backoff)
  }

  /// It is known what became of an entry.
  func end(_ entry: Entry) { work.end(entry.position) }

  /// Gives an entry back that could not be worked on now, and is not to blame for it.
  func postpone(_ entry: Entry) { work.retry(entry.position, attempts: nil, due: Clock.steadyMilliseconds) }

  /// Has an entry tried again after a while.
  func retry(_ record: PhotoRecord, after seconds: Double) {
    let live = record.snapshot
    work.retry(
      record.entry.position, attempts: live.attempts, isRefused: live.failure?.isRefusal == true,
      due: Self.due(seconds))
  }

  /// Whether an entry that failed is to be tried with its next mirror: whatever kept the download from being one.
  func hasMirror(after failure: EntryFailure, of record: PhotoRecord) -> Bool {
    failure.stage == .download && !record.entry.mirrors.isEmpty
  }

  /// Has an entry tried with its next mirror.
  func turnToMirror(_ record: PhotoRecord) throws {
    guard let url = record.entry.mirrors.first else { return }
    try work.turn(
      record.entry.position, to: url, attempts: record.snapshot.attempts, now: Clock.steadyMilliseconds)
  }

  /// How long to wait before an entry that failed is tried again, in seconds; nil when it is not.
  ///
  /// When its host asked to be left alone, that is the host's affair: the entry is given up only when the host has asked
  /// for it too often in a row.
  func delay(after failure: EntryFailure, of record: PhotoRecord, attempts: Int, backoff: Backoff) -> Double? {
    let position = record.entry.position
    guard failure.isRefusal else {
      return backoff.delay(after: failure, attempts: attempts - work.uncounted(of: position))
    }
    let throttle = work.throttle(ofHostOf: position)
    return throttle.refusals > backoff.retries ? nil : Self.seconds(until: throttle.until)
  }

  /// The hosts that are left alone, and for how many seconds: the first so many, and how many there are.
  func heldHosts(limit: Int) throws -> (hosts: [(name: String, seconds: Double)], total: Int) {
    let held = try work.heldHosts(now: Clock.steadyMilliseconds, limit: limit)
    return (held.hosts.map { ($0.name, Self.seconds(until: $0.until)) }, held.total)
  }

  /// How long until an entry or a host that waits may be worked on, in seconds; nil when none waits.
  var secondsToNextChange: Double? {
    work.nextChange.map(Self.seconds(until:))
  }

  /// What was asked of servers.
  var transfers: Transfers { work.transfers }

  /// How many entries wait to be tried again.
  var waitingRetries: Int { work.waitingRetries }

  private static func seconds(until due: Int) -> Double { Double(max(0, due - Clock.steadyMilliseconds)) / 1000 }

  private static func due(_ seconds: Double) -> Int { Clock.steadyMilliseconds + Int((seconds * 1000).rounded(.up)) }

  /// Counts a row that has become durable.
  func add(_ row: JSONValue) { tally.add(row) }

  /// What the job came to, now that every entry has its row.
  func outcome(at now: Int) -> JobOutcome {
    JobOutcome(
      state: tally.counts.state, counts: tally.counts, bytes: tally.bytes, transfers: transfers, problems: [],
      finished: now)
  }

  /// What becomes of a job whose manifest has problems.
  func rejected(_ problems: [ManifestProblem], at now: Int) -> JobOutcome {
    JobOutcome(
      state: .rejected, counts: JobOutcome.Counts(), bytes: JobOutcome.Bytes(), transfers: Transfers(),
      problems: problems.map {
        JobOutcome.Problem(code: $0.code.rawValue, message: $0.message, place: $0.place.description)
      },
      finished: now)
  }
}

extension HostTurns.Answer {
  /// What a download tells of its host.
  fileprivate init(_ live: PhotoRecord.Live) {
    guard live.usage.requests.sent > 0 else {
      self = .none
      return
    }
    // Whatever has become of it since.
    if live.source != nil || live.failure?.isOfCache == true {
      self = .served
      return
    }
    switch live.failure {
    case let failure? where failure.isRefusal: self = .refused(failure.retryAfter)
    case let failure?: self = (failure.httpStatus ?? 500) < 500 ? .served : .none
    case nil: self = .none
    }
  }
}
