import Ledger
import Scheduling
import System

/// Hands what is unchanged from a run to the one whose manifest takes the place of its own, on a thread of its own. Nothing
/// of the old run starts meanwhile.
///
/// A row goes from one run to the other in one commit, so that it is in exactly one report. What is interrupted is done again.
struct JobReplacement: @unchecked Sendable {  // the indexes have one owner at a time
  let old: RunContext
  let oldIndex: JobIndex
  let ledger: Ledger

  /// What the comparison of the manifests came to.
  struct Comparison: Sendable {
    /// What the rows that went over add up to.
    let tally: JobTally

    /// The entries that are unchanged and were in progress or being delivered, or are variants of one that was being
    /// downloaded, by their places in the old run: they are the new run's. What has begun ends in the old one.
    let carried: [Int: Entry]

    /// Which entries of the new run wait for others; nil when none does.
    let dependencies: DependencyTracker?

    /// How many variants of the new run wait for others of their entry.
    let heldVariants: Int

    /// The unchanged entries that have no result and of which something is known: their places in the new run, by those in
    /// the old one.
    let waiting: [Int: Int]

    /// Those that are deferred, at their places in the new run, which has them deferred in the ledger, too.
    let deferred: [DeferredEntry]
  }

  /// What is known of entries of the old run that have not started, or wait to be tried again.
  struct Waiting: Sendable {
    /// Those that were tried.
    let tried: Set<Int>

    /// The variants of which another has downloaded the source.
    let downloaded: Set<Int>

    /// The variants that wait for the download of another, which goes on: the place of that, by theirs.
    let held: [Int: Int]

    /// Those that are deferred, by their places.
    let deferred: [Int: DeferredEntry]

    func contains(_ position: Int) -> Bool { tried.contains(position) || downloaded.contains(position) }
  }

  /// Compares two manifests, has rows with results go over, and has the new run ready to begin with the rest.
  /// - Parameters:
  ///   - started: The entries of the old run that are in progress or being delivered.
  ///   - known: What is known of others.
  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`; `CancellationError` when it was stopped.
  func compare(
    with new: Plan, started: Set<Int>, waiting known: Waiting, isStopping: () -> Bool
  ) throws -> Comparison {
    let index = new.index
    var carried: [Int: Entry] = [:]
    var waiting: [Int: Int] = [:]
    var deferred: [DeferredEntry] = []
    try match(index, isStopping: isStopping) { position, same in
      // A variant comes after the one that it waits for.
      let isHeld = known.held[position].map { carried[$0] != nil } == true
      if isHeld || started.contains(position) {
        carried[position] = try index.entry(at: same)
      } else if known.contains(position) {
        waiting[position] = same
      }
      if let entry = known.deferred[position] { deferred.append(entry.moved(to: same)) }
    }
    if index.hasDependencies {
      // If what an entry comes after has changed it waits for that again.
      deferred = try deferred.filter { entry in
        try index.dependencies(of: entry.position).allSatisfy { try oldIndex.hasSuccessor(at: $0.position) }
      }
    }
    let (now, wallNow) = (Clock.monotonicMilliseconds, Clock.wallMilliseconds)
    let deferrals = deferred.map {
      LedgerChange.postpone(LedgerDeferral($0, now: now, wallNow: wallNow), run: new.run.runID)
    }
    // From here on the old run is superseded, also for the next start.
    try ledger.commit(new.names + deferrals + [.advance(new.run.runID, to: .running)])
    try carryResults(to: new.run, index, except: started, isStopping: isStopping)
    let recovery = Recovery(run: new.run, ledger: ledger, index: index, sources: new.sources)
    let tally = try recovery.recover()
    return try index.fill {
      for entry in carried.values { _ = try index.takeOut(entry.position) }
      for (position, place) in waiting where known.downloaded.contains(position) {
        old.staging.move(old.staging.download(position), to: new.run.staging.download(place))
        _ = try index.takeOut(place)
      }
      let heldVariants = try index.holdVariants()
      let dependencies = try index.takeDependents()
      deferred = try deferred.filter { try index.takeOutDeferred($0.position) }
      try index.prepareHosts()
      return Comparison(
        tally: tally, carried: carried, dependencies: dependencies, heldVariants: heldVariants, waiting: waiting,
        deferred: deferred)
    }
  }

  /// Does what a process left to do that ended while both runs were there: rows with results go over, and what is unchanged
  /// counts as ended in the old run's index. Neither run is live.
  /// - Parameter index: Of the new run.
  /// - Throws: `SystemError`, `SQLiteError`, `LedgerError`; `CancellationError` when it was stopped.
  func complete(to new: RunContext, _ index: JobIndex, isStopping: () -> Bool) throws {
    try match(index, isStopping: isStopping) { _, _ in }
    try carryResults(to: new, index, except: [], isStopping: isStopping)
    try oldIndex.fill { try oldIndex.markSucceededEnded() }
  }

  /// Records in the old run's index which of its entries are unchanged.
  /// - Parameters:
  ///   - index: Of the new run.
  ///   - body: Called with the places of each such entry in the old and in the new run.
  private func match(_ index: JobIndex, isStopping: () -> Bool, body: (Int, Int) throws -> Void) throws {
    try index.prepareNames()
    try oldIndex.fill {
      try oldIndex.prepareSuccessors()
      try oldIndex.eachIdentityPage { page in
        if isStopping() { throw CancellationError() }
        for entry in page {
          guard let work = entry.work, let same = try index.identity(named: entry.name), same.work == work else {
            continue
          }
          try oldIndex.insertSuccessor(same.position, of: entry.position)
          try body(entry.position, same.position)
        }
      }
    }
  }

  /// Has the rows of unchanged entries go over that have results.
  /// - Parameter started: The entries whose rows stay for now.
  private func carryResults(
    to new: RunContext, _ index: JobIndex, except started: Set<Int>, isStopping: () -> Bool
  ) throws {
    try ledger.eachEndedPage(run: old.runID) { page in
      if isStopping() { throw CancellationError() }
      try ledger.commit(
        page.compactMap { ended in
          guard !started.contains(ended.position), let place = try oldIndex.successor(of: ended.position) else {
            return nil
          }
          let row = try ReportRow(parsing: ended.row)
          // What failed is tried again.
          guard row.state == .filtered, let entry = try index.entry(at: place) else { return nil }
          return carry(row.carried(to: entry), to: entry, of: new, from: ended.position)
        })
    }
  }

  /// What became of the entries that went on in the old run.
  struct Settlement: Sendable {
    /// The rows that went over.
    let rows: [DeliveryQueue.Committed]

    /// The entries that did not end, by their places in the new run.
    let open: [Int]
  }

  /// Has the rows of what was in progress go over, once it has ended. No index is needed for that.
  /// - Parameters:
  ///   - entries: The entries of the new run that went on in the old one, by their places in the old one.
  ///   - downloaded: The variants among them of which another has downloaded the source.
  /// - Throws: `SQLiteError`, `LedgerError`.
  func settle(_ entries: [Int: Entry], downloaded: Set<Int>, to new: RunContext) throws -> Settlement {
    var (rows, open): ([DeliveryQueue.Committed], [Int]) = ([], [])
    for (position, entry) in entries {
      if let ended = try ledger.ended(run: old.runID, at: position) {
        let row = try ReportRow(parsing: ended.row).carried(to: entry)
        try ledger.commit([carry(row, to: entry, of: new, from: position)])
      }
      // It may have gone over before this was interrupted.
      if let ended = try ledger.ended(run: new.runID, at: entry.position) {
        let row = try ReportRow(parsing: ended.row)
        rows.append(.init(record: PhotoRecord(entry, run: new), row: row, text: ended.row))
      } else {
        if downloaded.contains(position) {
          old.staging.move(old.staging.download(position), to: new.staging.download(entry.position))
        }
        open.append(entry.position)
      }
    }
    return Settlement(rows: rows, open: open)
  }

  private func carry(_ row: ReportRow, to entry: Entry, of new: RunContext, from position: Int) -> LedgerChange {
    let ended = LedgerEntry(
      position: entry.position, delivery: nil, failure: row.ledgerFailure(name: entry.name), row: row.json.text)
    return .carry(ended, run: new.runID, from: old.runID, at: position)
  }
}

extension ReportRow {
  /// The row of the same entry in another manifest.
  fileprivate func carried(to entry: Entry) -> ReportRow {
    var row = self
    (row.index, row.priority, row.metadata) = (entry.line ?? entry.position, entry.priority.rawValue, entry.metadata)
    return row
  }
}
