import Ledger
import Model

/// Cancelled and superseded runs. Running operations of a cancelled run end soon, waiting ones do not begin, and
/// finished results stay.
///
/// A manifest that replaces another is planned beside the other's run. If it is rejected, nothing changes. Otherwise
/// the old run is superseded: it ends like a cancelled one, except that running operations that the new manifest wants
/// unchanged get some time to finish. Then the new run is planned again, and begins.
extension RunTable {
  /// How long operations of a superseded run may take that the later manifest wants as well, in seconds.
  static let waitForOperations = 10.0

  /// Cancels the remaining entries of a run.
  mutating func cancel(_ number: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number], let effects = close(number, context) else { return [] }
    return effects + [.observe(.jobCancelled(job: run.name, isRemoved: run.known.unwanted == .removed))]
  }

  /// Closes a run that is planned or running. Waiting operations do not begin, and running ones are cancelled.
  /// - Parameters:
  ///   - isSuperseded: Whether a later manifest replaces its own. Default: false.
  ///   - plan: The later manifest, whose operations may finish. Default: nil, none.
  /// - Returns: nil when it is closing or reporting already.
  private mutating func close(
    _ number: Int, isSuperseded: Bool = false, sparing plan: Plan? = nil, _ context: Context
  ) -> [Effect]? {
    let entries: RunEntries
    var hasBegun = false
    switch runs[number]?.phase {
    case .waiting(let plan):
      hasBegun = plan.job.state != .accepted
      entries = RunEntries(plan, activeTime: context.activeTime, now: context.now)
    case .running(let begun): (entries, hasBegun) = (begun, true)
    case .planning(.list(let begun)): entries = begun
    case .planning(.unlisted(let plan)): entries = RunEntries(plan, activeTime: context.activeTime, now: context.now)
    case .planning(.manifest), .closing, .reporting, nil: return nil
    }
    let waitEnd = plan == nil ? nil : context.now + Self.waitForOperations
    runs[number]?.phase = .closing(
      .init(entries: entries, isSuperseded: isSuperseded, waitEnd: waitEnd, hasBegun: hasBegun))
    return [.close(run: number, entries, sparing: plan)]
  }

  // MARK: Replacing

  /// Replaces the manifest of a live run by the planned one of another.
  mutating func replace(_ number: Int, by successor: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number], let new = runs[successor] else { return [] }
    var plan: Plan?
    if case .waiting(let waiting) = new.phase { plan = waiting }
    guard var effects = close(number, isSuperseded: true, sparing: plan, context) else { return [] }
    if let plan {
      // Runs before that one may still be closing.
      for earlier in runs.values where earlier.key == run.key && earlier.number != number {
        guard case .closing(let closing) = earlier.phase, closing.isSuperseded else { continue }
        effects.append(.cancel(run: earlier.number, closing.entries, sparing: plan))
      }
      effects += recordChain(from: run, to: new)
    }
    return effects + [.observe(.jobReplaced(job: run.name))]
  }

  /// Ends a planned replacement that has the same contents as the manifest of the live run. The live run continues, and
  /// its file is the replacement from now on.
  mutating func leaveToSame(_ number: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number], let old = run.replaces.flatMap({ runs[$0] }), old.known.unwanted == nil,
      var (job, manifest) = old.accepted, let new = run.accepted?.manifest, manifest.isSame(as: new)
    else { return [] }
    manifest.identity = new.identity
    guard let details = try? manifest.text else { return [] }
    switch old.phase {
    case .waiting(var plan):
      plan.manifest = manifest
      runs[old.number]?.phase = .waiting(plan)
    case .running(let entries): entries.plan.manifest = manifest
    case .planning, .closing, .reporting: return []
    }
    job.details = details
    runs[old.number]?.accepted = (job, manifest)
    return [.record([.note(job.runID, details: details)])] + (close(number, isSuperseded: true, context) ?? [])
  }

  /// Records the first run of a chain of replacements, whose requests need not be repeated. With that the old run is
  /// superseded, for the next start too.
  private mutating func recordChain(from run: JobRun, to new: JobRun) -> [Effect] {
    guard let (first, old) = run.accepted, var (job, manifest) = new.accepted else { return [] }
    manifest.chain = old.chain ?? .init(runID: first.runID, accepted: old.accepted)
    guard let details = try? manifest.text else { return [] }
    job.details = details
    runs[new.number]?.accepted = (job, manifest)
    return [.record([.note(job.runID, details: details)])]
  }

  /// Plans a replacement again, after the run that it replaces has ended.
  mutating func planSeparately(_ number: Int) -> [Effect] {
    guard let run = runs[number], case .waiting(let plan) = run.phase else { return [] }
    var job = plan.job
    job.details = run.accepted?.job.details ?? job.details
    runs[number]?.isPlannedAgain = true
    return [.reuse(plan.index)] + planAgain(number, job)
  }

  /// Cancels the remaining operations of superseded runs when their time is over or the later run is cancelled.
  mutating func endWaits(now: Double) -> [Effect] {
    runs.values.compactMap { run in
      guard case .closing(var closing) = run.phase, let end = closing.waitEnd else { return nil }
      let isWanted = runs.values.contains {
        $0.key == run.key && $0.order > run.order && $0.known.unwanted == nil && $0.isUnfinished
      }
      guard now >= end || !isWanted else { return nil }
      closing.waitEnd = nil
      runs[run.number]?.phase = .closing(closing)
      return .cancel(run: run.number, closing.entries, sparing: nil)
    }
  }

  /// Examines handled files again, because the inbox was unavailable, except for those of live runs.
  mutating func inboxReturned() {
    queue.inboxReturned()
    // Of several runs of a job, the last one's manifest may be in the inbox.
    for run in runs.values.sorted(by: { $0.order < $1.order }) {
      guard let manifest = run.accepted?.manifest, manifest.inboxPath != nil else { continue }
      queue.ignore(manifest.file, identity: manifest.identity)
    }
  }

  // MARK: Recording remaining entries

  /// Records the remaining entries of a closing run that has no running operations.
  mutating func recordRest(_ number: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number], case .closing(var closing) = run.phase, !closing.isUnderWay else { return [] }
    closing.isUnderWay = true
    runs[number]?.phase = .closing(closing)
    let plan = closing.entries.plan
    if closing.isSuperseded { return [.recordSuperseded(run: number, plan, hasBegun: closing.hasBegun)] }
    guard closing.entries.isSource else { return [.recordCancelled(run: number, closing.entries)] }
    // There are no rows, because its entries are not known.
    let effects = forgetSource(of: number, context)
    guard let run = runs[number] else { return effects }
    let outcome = JobOutcome(withoutEntries: .cancelled, run, context)
    runs[number]?.phase = .reporting(.init(plan: plan, outcome: outcome, hasPredecessor: run.replaces != nil))
    return effects + finish(number, context)
  }

  /// - Parameter tally: The counts of all rows of the run.
  mutating func closed(_ run: JobRun, _ tally: JobTally, _ context: Context) -> [Effect] {
    guard case .closing(let closing) = run.phase else { return [] }
    let entries = closing.entries
    entries.tally = tally
    var effects: [Effect] = [.release(.ending(run.number))]
    guard closing.isSuperseded else {
      runs[run.number]?.phase = .running(entries)
      return effects
    }
    effects.append(.removeEntries(run: run.number))
    guard tally.counts.total > 0 else { return effects + remove(run.number) + [.ended(runID: entries.plan.run.runID)] }
    var plan = entries.plan
    plan.run = plan.run.inHistory
    let outcome = JobOutcome(
      tally, context.transfers(run.number), at: context.wall, taking: run.elapsed(context)
    ).superseded
    runs[run.number]?.phase = .reporting(.init(plan: plan, outcome: outcome))
    // Its log was moved to `history`.
    return effects + [.closeLog(run: run.number)] + finish(run.number, context)
  }
}
