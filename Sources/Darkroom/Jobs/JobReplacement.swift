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
    /// downloaded, by their places in the old run: they are the new run's. What has begun ends in the old one. Those that
    /// have ended, and whose rows have gone over, are not among them any more.
    var carried: [Int: Entry]

    /// Of these, the variants that wait for the download of another one, by the place of that in the new run.
    let waitingVariants: [Int: [EntryKey]]

    /// Which entries of the new run wait for others; nil when none does.
    let dependencies: DependencyTracker?

    /// How many other variants of the new run wait for others of their entry.
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

    /// The variants that wait for the download of another: the place of that, by theirs.
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
    var held: [Int: Int] = [:]
    try match(index, isStopping: isStopping) { position, same in
      if started.contains(position) {
        carried[position] = try index.entry(at: same)
      } else if known.held[position] != nil {
        held[position] = same
      } else if known.contains(position) {
        waiting[position] = same
      }
      if let entry = known.deferred[position] { deferred.append(entry.moved(to: same)) }
    }
    var waitingVariants: [Int: [EntryKey]] = [:]
    for (position, place) in held {
      // Those whose download does not go on are left to do, as any others.
      guard let first = known.held[position].flatMap({ started.contains($0) ? carried[$0] : nil }),
        let entry = try index.entry(at: place), let priority = try index.place(of: place)?.key.priority
      else {
        if known.contains(position) { waiting[position] = place }
        continue
      }
      carried[position] = entry
      waitingVariants[first.position, default: []].append(EntryKey(priority: priority, position: place))
    }
    for first in waitingVariants.keys { waitingVariants[first]?.sort() }
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
      let downloaded = waiting.filter { known.downloaded.contains($0.key) }
      moveSources(downloaded, to: new.run)
      for place in downloaded.values { _ = try index.takeOut(place) }
      let heldVariants = try index.holdVariants()
      let dependencies = try index.takeDependents()
      deferred = try deferred.filter { try index.takeOutDeferred($0.position) }
      try index.prepareHosts()
      return Comparison(
        tally: tally, carried: carried, waitingVariants: waitingVariants, dependencies: dependencies,
        heldVariants: heldVariants, waiting: waiting, deferred: deferred)
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
          let carried = PhotoRecord(entry, run: new).ledgerEntry(row.carried(to: entry))
          return .carry(carried, run: new.runID, from: old.runID, at: ended.position)
        })
    }
  }

  /// Has the sources go over that were downloaded for variants of the new run that have not started.
  /// - Parameter places: Their places in the new run, by those in the old one.
  func moveSources(_ places: [Int: Int], to new: RunContext) {
    for (position, place) in places {
      old.staging.move(old.staging.download(position), to: new.staging.download(place))
    }
  }
}

extension ReportRow {
  /// The row of the same entry in another manifest.
  func carried(to entry: Entry) -> ReportRow {
    var row = self
    (row.index, row.priority, row.metadata) = (entry.line ?? entry.position, entry.priority.rawValue, entry.metadata)
    return row
  }
}
