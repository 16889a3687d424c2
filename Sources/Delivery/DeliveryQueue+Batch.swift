import Database
import Foundation
import Ledger
import Model
import System

/// What is done with a batch. Each step that fails costs what it is for: results, a job that is being accepted, a report.
/// What the machine is to blame for is nobody's failure, and is tried again.
extension DeliveryQueue {
  func deliver(_ batch: Batch) throws {
    var results = ResultBatch(batch.records, held: batch.held, ledger: ledger)
    let unfit = results.syncFiles()
    if let first = unfit.first { send(.rejected(unfit, first.failure ?? .cache)) }
    let acceptances = prepare(batch.acceptances)
    let reports = prepare(batch.reports, &results)
    var folders = batch.folders.union(results.createFolders())
    // Before rows say who has brought a source.
    if !results.isEmpty { resultsCommitted() }
    let changes = batch.changes + acceptances.flatMap(\.changes) + results.intents + reports.map(\.intent)
    do {
      var isAgain = false
      try retrying(after: { !$0.isOutOfSpace }) {
        let left = isAgain ? try changes.map(unaccepted) : changes
        isAgain = true
        try ledger.commit(left)
      }
    } catch let error where error.isOutOfSpace {
      // The next batch has nothing that can be rejected, or less.
      return reject(batch.changes, acceptances, reports, results, folders, error)
    }
    for acceptance in acceptances { acceptance.completion(.success(())) }
    folders.formUnion(results.place())
    let placed = reports.map { report in (report, Result { try place(report) }) }
    for (report, result) in placed { if case .success = result { folders.formUnion(report.folders) } }
    // Whoever waits for the results may have taken a folder away already.
    let unsynced = sync(folders)
    results.hold(beneath: unsynced)
    let outcomes = placed.map { report, result in
      (report, result.flatMap { report.ended(unsynced) })
    }
    let held = results.takeHeld()
    let ended = outcomes.flatMap { report, outcome in (try? outcome.get()) == nil ? [] : report.ends }
    try retrying(after: { _ in true }) { try ledger.commit(results.ends + ended) }
    results.removeUnplaced()
    try log(results.committed, flushing: batch.flushesLogs)
    if !results.isEmpty { send(.committed(results.committed)) }
    for (report, outcome) in outcomes {
      if (try? outcome.get()) != nil {
        // One that was cancelled may have got its list at the last moment.
        state.remove(
          report.run.runID, extension: report.manifest.fileExtension,
          hasList: report.manifest.list != nil || report.outcome.counts.total == 0)
      }
      send(.reported(run: report.run.number, outcome))
    }
    // A ledger that is damaged is repaired by another start: waiting does not help.
    if let damage = held.lazy.compactMap(\.obstacle).first(where: \.isDamageOfLedger) { throw damage }
    hold(held, unsynced: Set(unsynced.keys), wasTried: !batch.held.isEmpty || batch.flushesLogs)
  }

  /// A commit may have failed after all was written: a job is not accepted twice, and recorded once more so that it lasts.
  private func unaccepted(_ change: LedgerChange) throws -> LedgerChange {
    guard case .accept(let job) = change, try ledger.hasJob(job.runID) else { return change }
    return .advance(job.runID, to: job.state)
  }

  /// Brings the names of snapshots to the disk.
  /// - Returns: The jobs that can be accepted.
  private func prepare(_ acceptances: [Acceptance]) -> [Acceptance] {
    guard !acceptances.isEmpty else { return [] }
    do {
      try Folder.sync(state.jobs)
      return acceptances
    } catch {
      for acceptance in acceptances { acceptance.completion(.failure(error)) }
      return []
    }
  }

  /// Brings the names in staging to the disk. When that fails, what was written there is written again; when staging cannot
  /// even be opened, results wait.
  /// - Returns: The reports that can be delivered.
  private func prepare(_ reports: [ReportDelivery], _ results: inout ResultBatch) -> [ReportDelivery] {
    guard !results.isEmpty || !reports.isEmpty else { return [] }
    do throws(SystemError) {
      try Folder.sync(staging)
      return reports
    } catch {
      let isLost = error.operation != "open"
      if isLost {
        let rejected = results.reject()
        results.hold(error)
        if !rejected.isEmpty { send(.rejected(rejected, error)) }
      } else {
        results.hold(error)
      }
      for report in reports {
        // What was recorded is not written again.
        let number = report.run.number
        send(isLost && !report.isRepeated ? .unstaged(run: number, error) : .reported(run: number, .failure(error)))
      }
      return []
    }
  }

  /// There was no room for the intents: nothing of the batch has happened.
  /// - Parameter folders: Those that have a new name in them.
  private func reject(
    _ changes: [LedgerChange], _ acceptances: [Acceptance], _ reports: [ReportDelivery], _ results: ResultBatch,
    _ folders: Set<String>, _ error: any Error
  ) {
    var results = results
    for acceptance in acceptances { acceptance.completion(.failure(error)) }
    let rejected = results.reject()
    if !rejected.isEmpty { send(.rejected(rejected, error)) }
    // Their documents stay: whether they are recorded is not known for certain.
    for report in reports { send(.reported(run: report.run.number, .failure(error))) }
    putBack(changes, folders)
    results.hold(error)
    hold(results.takeHeld(), unsynced: [], wasTried: true)
  }

  /// Gives a report its name, once all rows are in the log beside it.
  private func place(_ report: ReportDelivery) throws(SystemError) {
    do throws(SystemError) {
      try logs.flush(report.run.number)
    } catch  where error.cause.isOfMachine {
      throw error
    } catch {}
    try report.place()
  }

  /// - Returns: The folders that could not be synced, and why. One that is not there any more is none.
  private func sync(_ folders: Set<String>) -> [String: any Error] {
    var unsynced: [String: any Error] = [:]
    for folder in folders {
      do {
        try outbox.syncIfThere(folder)
      } catch {
        unsynced[folder] = error
      }
    }
    return unsynced
  }

  /// Adds rows to the log of their run, of which nothing is being delivered. They are durable, by a commit that is none of a
  /// batch.
  package func log(_ committed: [Committed]) throws { try log(committed, flushing: false) }

  /// Adds rows that are durable to their runs' logs. What goes wrong is only that run's. Rows for which there is no room when
  /// the program ends are added at its next start.
  private func log(_ committed: [Committed], flushing: Bool) throws {
    for rows in Dictionary(grouping: committed, by: \.record.run.number).values {
      try log(rows.first?.record.run.number ?? 0, orKeep: rows) { try logs.append(rows) }
    }
    guard flushing else { return }
    for run in logs.waiting.keys { try log(run) { try logs.flush(run) } }
  }

  private func log(_ run: Int, orKeep rows: [Committed] = [], _ body: () throws -> Void) throws {
    do {
      try retrying(after: \.isOutOfSpace) { try body() }
    } catch let error as SystemError {
      if error.isOutOfSpace { logs.keep(rows, error) }
      if logs.waiting[run] == nil { send(.unlogged(run: run, error)) }
    }
  }
}

extension ReportDelivery {
  /// Ends a report that was placed, if its folder and those above are on disk.
  fileprivate func ended(_ unsynced: [String: any Error]) -> Result<Outcome, any Error> {
    for folder in folders {
      if let error = unsynced.first(where: { folder == $0.key || folder.hasPrefix($0.key + "/") })?.value {
        return .failure(error)
      }
    }
    do {
      return .success(try removeManifest())
    } catch {
      return .failure(error)
    }
  }
}
