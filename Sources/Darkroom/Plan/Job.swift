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

  /// How many entries the manifest has.
  let total: Int

  /// What the rows that are durable add up to.
  private(set) var tally: JobTally

  /// Entries to be tried again, because there was no room for their files.
  private var again: [Entry] = []
  private var page: ArraySlice<JobIndexRow> = []
  private var last: JobIndexRow?
  private var isExhausted = false

  init(_ job: LedgerJob, _ prepared: Preparation.Prepared) throws {
    runID = job.runID
    name = job.name
    manifest = prepared.manifest
    index = prepared.index
    folder = prepared.folder
    staging = prepared.staging
    tally = prepared.tally
    total = try index.count()
  }

  /// When the job was accepted, in milliseconds since 1970.
  var started: Int { manifest.accepted }

  /// Whether every entry has its row.
  var isDone: Bool { tally.counts.total >= total }

  /// The next entry to start; nil when all have been.
  func next() throws -> Entry? {
    if !again.isEmpty { return again.removeFirst() }
    if page.isEmpty, !isExhausted {
      page = try index.pending(after: last, limit: 256)[...]
      isExhausted = page.isEmpty
    }
    guard let row = page.popFirst() else { return nil }
    last = row
    return try row.entry()
  }

  /// Gives an entry back that could not be worked on now.
  func postpone(_ entry: Entry) { again.append(entry) }

  /// Counts a row that has become durable.
  func add(_ row: JSONValue) { tally.add(row) }

  /// What the job came to, now that every entry has its row.
  func outcome(at now: Int) -> JobOutcome {
    JobOutcome(state: tally.counts.state, counts: tally.counts, bytes: tally.bytes, problems: [], finished: now)
  }

  /// What becomes of a job whose manifest has problems.
  func rejected(_ problems: [ManifestProblem], at now: Int) -> JobOutcome {
    JobOutcome(
      state: .rejected, counts: JobOutcome.Counts(), bytes: JobOutcome.Bytes(),
      problems: problems.map {
        JobOutcome.Problem(code: $0.code.rawValue, message: $0.message, place: $0.place.description)
      },
      finished: now)
  }
}
