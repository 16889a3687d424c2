import Ledger
import System

/// Continues a job over which an earlier process died.
struct Recovery {
  let run: RunContext
  let ledger: Ledger
  let index: JobIndex

  /// Whether the index has failures of the job's last run.
  var hasFailures = false

  /// What counts the sources of the rows that are durable.
  var sources: SourceCounts?

  /// Completes deliveries that had begun, and takes what has ended out of the index.
  /// - Returns: What the rows that are durable add up to.
  /// - Throws: `SystemError`, `SQLiteError`.
  func recover() throws -> JobTally {
    let intended = try ledger.intended(run: run.runID)
    let completed = try intended.map(complete)
    let deliveries =
      intended.compactMap(\.delivery) + completed.compactMap(\.original) + completed.compactMap(\.preview)
    for folder in Set(deliveries.map(\.subfolder)) { try run.folder.syncIfThere(folder) }
    try ledger.commit(completed.map { .finish($0, run: run.runID, job: run.job) })
    // Not before: an intent whose staged file is gone means that the file was delivered.
    for (entry, now) in zip(intended, completed) {
      if now.preview == nil { run.staging.remove(run.staging.preview(entry.position)) }
      guard now.delivery == nil else { continue }
      if let delivery = entry.delivery { run.staging.remove(delivery.staged) }
      run.staging.remove(run.staging.original(entry.position))
    }
    var tally = JobTally()
    let log = try run.staging.create(run.staging.document("entries.jsonl"))
    try ledger.eachEndedPage(run: run.runID) { page in
      var succeeded: [Int] = []
      for entry in page {
        let row = try ReportRow(parsing: entry.row)
        tally.add(row)
        sources?.add(row)
        if index.hasDependencies, row.state == .filtered { succeeded.append(entry.position) }
      }
      try log.write(page.map { $0.row + "\n" }.joined())
      try index.fill {
        for entry in page { try index.markEnded(entry.position) }
        for position in succeeded { try index.dependencySucceeded(position) }
      }
    }
    // The last lines may be missing or torn.
    try run.staging.open().rename(
      Folder.name(of: log.path), to: run.folder.createDurably(), as: Folder.name(of: run.folder.entriesLog))
    return tally
  }

  private func complete(_ entry: LedgerEntry) throws -> LedgerEntry {
    guard let delivery = entry.delivery else { return entry }
    var entry = entry
    do {
      let placement = Placement(folder: run.folder, staging: run.staging, ledger: ledger)
      if var original = try entry.intendedOriginal(run: run.runID) {
        try placement.check(delivery, before: original)
        // Whether one that is placed was adopted is not known.
        if try run.staging.open().status(of: original.staged) == nil { original.origin = nil }
        if case .adopted(let identity) = try placement.recover(original) { original.adopt(identity) }
        entry.original = original
      }
      if case .adopted(let identity) = try placement.recover(delivery) { entry.delivery?.adopt(identity) }
      try completePreview(of: &entry, placement)
      return entry
    } catch let conflict as EntryFailure {
      let name = try index.entry(at: entry.position)?.name ?? ""
      let last = hasFailures ? try index.failure(name) : nil
      let row = try ReportRow(parsing: entry.row).failed(conflict, after: last)
      var failed = LedgerEntry(
        position: entry.position, delivery: nil, failure: row.ledgerFailure(name: name), row: row.json.text)
      failed.original = entry.original
      return failed
    }
  }

  /// Completes the delivery of a preview; one that cannot be delivered is given up.
  private func completePreview(of entry: inout LedgerEntry, _ placement: Placement) throws {
    var row = try ReportRow(parsing: entry.row)
    guard var preview = try entry.intendedPreview(run: run.runID) else {
      if row.preview == nil, let name = try index.entry(at: entry.position)?.name {
        _ = try placement.removePreview(of: name)
      }
      return
    }
    do {
      if case .adopted(let identity) = try placement.recover(preview) { preview.adopt(identity) }
      entry.preview = preview
    } catch {
      row.preview = nil
      entry.dropPreview(row)
    }
  }
}
