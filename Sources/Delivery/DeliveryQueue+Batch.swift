import Ledger
import Model
import System

/// Delivers a batch. A step that fails only affects its own item: a result, a job that is being accepted, a report.
/// Steps that fail because of the machine are tried again.
extension DeliveryQueue {
  func deliver(_ batch: Batch) throws {
    // Before rows tell which sources are there.
    let originals = deliver(originalsOf: batch.originals, besides: batch.records)
    var results = ResultBatch(
      batch.records, held: batch.held, ledger: ledger, givenUp: givenUp.withLock { $0 })
    let unfit = results.syncFiles()
    if let first = unfit.first { send(.rejected(unfit, first.failure ?? .cache)) }
    let acceptances = prepare(batch.acceptances)
    let reports = prepare(batch.reports, &results)
    var folders = batch.folders.union(originals.folders).union(results.createFolders())
    // Before rows name the request that returned a source.
    if !results.isEmpty { resultsCommitted() }
    let changes =
      batch.changes + originals.changes + acceptances.flatMap(\.changes) + results.intents + reports.flatMap(\.intents)
    do {
      var isAgain = false
      try retrying(after: { !$0.isUndoneForWantOfSpace }) {
        let left = isAgain ? try changes.map(unaccepted) : changes
        isAgain = true
        try ledger.commit(left)
      }
    } catch let error where error.isUndoneForWantOfSpace {
      // The next batch contains fewer items that can be rejected.
      return reject(batch.changes + originals.changes, acceptances, reports, results, folders, error)
    }
    for acceptance in acceptances { acceptance.completion(.success(())) }
    folders.formUnion(results.place())
    let placed = reports.map { report in (report, Result { try place(report) }) }
    for (report, result) in placed { if case .success = result { folders.formUnion(report.folders.map(ByteKey.init)) } }
    // A consumer may have moved a folder away as soon as the results were there.
    let unsynced = sync(folders)
    results.hold(beneath: unsynced)
    let outcomes = placed.map { report, result in
      (report, result.flatMap { report.ended(unsynced, movedAway: $0) })
    }
    let held = results.takeHeld()
    let ended = outcomes.flatMap { report, outcome in (try? outcome.get()) == nil ? [] : report.ends }
    try retrying(after: { _ in true }) { try ledger.commit(results.ends + ended) }
    results.removeUnplaced()
    try log(results.committed, flushing: batch.flushesLogs)
    if !results.isEmpty { send(.committed(results.committed)) }
    for (report, outcome) in outcomes {
      if (try? outcome.get()) != nil {
        // A cancelled run may have received its list at the last moment.
        state.remove(
          report.run.runID, extension: report.manifest.fileExtension,
          hasList: report.manifest.list != nil || report.outcome.counts.total == 0)
      }
      send(.reported(run: report.run.number, outcome))
    }
    // A damaged ledger is repaired by restarting. Waiting does not help.
    if let damage = held.lazy.compactMap(\.obstacle).first(where: \.isDamageOfLedger) { throw damage }
    hold(held, unsynced: Set(unsynced.keys), wasTried: !batch.held.isEmpty || batch.flushesLogs)
  }

  /// Replaces the acceptance of a job that is recorded already. A commit may fail after everything was written; the job
  /// is then not accepted twice, but recorded once more, durably.
  private func unaccepted(_ change: LedgerChange) throws -> LedgerChange {
    guard case .accept(let job) = change, try ledger.hasJob(job.runID) else { return change }
    return .advance(job.runID, to: job.state)
  }

  /// Syncs the names of snapshots.
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

  /// Syncs the names in staging. When that fails, the files there must be written again; when staging cannot be opened,
  /// results are held.
  /// - Returns: The reports that can be delivered.
  private func prepare(_ reports: [ReportDelivery], _ results: inout ResultBatch) -> [ReportDelivery] {
    guard !results.isEmpty || !reports.isEmpty else { return [] }
    do throws(SystemError) {
      try Folder.sync(staging)
      return reports
    } catch {
      let isLost = error.operation != "open"
      let rejected = isLost ? results.reject() : []
      results.hold(error)
      if !rejected.isEmpty { send(.rejected(rejected, error)) }
      for report in reports {
        // Documents that are recorded are not written again.
        let number = report.run.number
        send(isLost && !report.isRepeated ? .unstaged(run: number, error) : .reported(run: number, .failure(error)))
      }
      return []
    }
  }

  /// Undoes a batch for whose intents there was no space.
  /// - Parameter folders: The folders to which names were added.
  private func reject(
    _ changes: [LedgerChange], _ acceptances: [Acceptance], _ reports: [ReportDelivery], _ results: ResultBatch,
    _ folders: Set<ByteKey>, _ error: any Error
  ) {
    var results = results
    for acceptance in acceptances { acceptance.completion(.failure(error)) }
    let rejected = results.reject()
    if !rejected.isEmpty { send(.rejected(rejected, error)) }
    // Their documents stay, since the intents may be recorded in spite of the error.
    for report in reports { send(.reported(run: report.run.number, .failure(error))) }
    putBack(changes, folders)
    results.hold(error)
    hold(results.takeHeld(), unsynced: [], wasTried: true)
  }

  /// Moves a report to its final name, after all rows are in the log beside it.
  /// - Returns: The new paths of files of others that had the names of documents.
  private func place(_ report: ReportDelivery) throws -> [String] {
    var moved: String?
    do {
      try logs.flush(report.run.number)
      moved = try replaceMissingLog(of: report)
    } catch  where error.isOfMachine || error.isDamageOfLedger {
      throw error
    } catch {}
    return try [moved].compactMap { $0 } + report.place()
  }

  /// Writes a run's log again, if somebody has moved it away, or the folder that it was in.
  /// - Returns: The new path of what has its name now; nil when nothing has.
  private func replaceMissingLog(of report: ReportDelivery) throws -> String? {
    let (run, log) = (report.run, EntriesLogFile(run: report.run, ledger: ledger))
    guard report.outcome.counts.total > 0, !run.isInHistory, try !log.isInPlace(logs.file(of: run.number)) else {
      return nil
    }
    // A consumer may have taken all of it already.
    if report.isRepeated, try report.isPlaced() { return nil }
    return try log.write(isSynced: true)
  }

  /// - Returns: The folders that could not be synced, with the errors. Missing folders are skipped.
  private func sync(_ folders: Set<ByteKey>) -> [ByteKey: any Error] {
    var unsynced: [ByteKey: any Error] = [:]
    for folder in folders {
      do {
        try outbox.syncIfThere(folder.text)
      } catch {
        unsynced[folder] = error
      }
    }
    return unsynced
  }

  /// Adds rows to the log of a run without other deliveries. The rows must be durable.
  package func log(_ committed: [Committed]) throws { try log(committed, flushing: false) }

  /// Adds durable rows to their runs' logs. Errors only concern one run. Rows for which there is no space when the
  /// program ends are added at the next start.
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
      if logs.waiting[run] == nil { send(.logFailed(run: run, error)) }
    }
  }
}

extension ReportDelivery {
  /// Ends a report that has its final name, if its folder and the folders above it are synced.
  fileprivate func ended(_ unsynced: [ByteKey: any Error], movedAway: [String]) -> Result<Outcome, any Error> {
    for folder in folders {
      if let error = unsynced.first(where: { Folder.path(folder, in: $0.key.text) != nil })?.value {
        return .failure(error)
      }
    }
    do {
      var outcome = try removeManifest()
      outcome.movedAway = movedAway
      return .success(outcome)
    } catch {
      return .failure(error)
    }
  }
}
