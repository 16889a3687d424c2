import Ledger
import Model
import Scheduling
import System

/// Runs that are cancelled or superseded. What runs of a cancelled one ends soon, what waits does not begin, paused or not,
/// and what is done stays done.
///
/// A manifest that is to replace another is planned beside the run of that; if it is rejected nothing changes. Otherwise the
/// old run is superseded: it ends as a cancelled one does, except that what runs of it and is unchanged in the new manifest
/// gets some time to end. Then the new run is planned again, and begins as any run does.
extension RunTable {
  /// How long operations of a superseded run may take that the later manifest wants as well, in seconds.
  static let waitForOperations = 10.0

  /// Cancels what has not been done of a run.
  mutating func cancel(_ number: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number], let effects = close(number, context) else { return [] }
    return effects + [.observe(.jobCancelled(job: run.name, isRemoved: run.known.unwanted == .removed))]
  }

  /// Ends a run that is planned or runs: what waits does not begin, and what runs is cancelled.
  /// - Parameters:
  ///   - isSuperseded: Whether a later manifest takes the place of its own. Default: none does.
  ///   - plan: What of its operations that manifest wants may end. Default: nothing.
  /// - Returns: nil when it ends already.
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

  /// The planned manifest of a run takes the place of a live one's.
  mutating func replace(_ number: Int, by successor: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number], let new = runs[successor] else { return [] }
    var plan: Plan?
    if case .waiting(let waiting) = new.phase { plan = waiting }
    guard var effects = close(number, isSuperseded: true, sparing: plan, context) else { return [] }
    if let plan {
      // Runs before that one may be ending still.
      for earlier in runs.values where earlier.name == run.name && earlier.number != number {
        guard case .closing(let closing) = earlier.phase, closing.isSuperseded else { continue }
        effects.append(.cancel(run: earlier.number, closing.entries, sparing: plan))
      }
      effects += recordChain(from: run, to: new)
    }
    return effects + [.observe(.jobReplaced(job: run.name))]
  }

  /// A planned manifest that lists the same as the one that it was to replace, whose run goes on, leaves nothing: its file is
  /// that of the other one from now on.
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

  /// Records the first run of those of which each has replaced the one before: what these have asked for is known. From then on
  /// the old run is superseded, also for the next start.
  private mutating func recordChain(from run: JobRun, to new: JobRun) -> [Effect] {
    guard let (first, old) = run.accepted, var (job, manifest) = new.accepted else { return [] }
    manifest.chain = old.chain ?? .init(runID: first.runID, accepted: old.accepted)
    guard let details = try? manifest.text else { return [] }
    job.details = details
    runs[new.number]?.accepted = (job, manifest)
    return [.record([.note(job.runID, details: details)])]
  }

  /// Plans a planned manifest again: what it was to replace has ended.
  mutating func planSeparately(_ number: Int) -> [Effect] {
    guard let run = runs[number], case .waiting(let plan) = run.phase else { return [] }
    var job = plan.job
    job.details = run.accepted?.job.details ?? job.details
    runs[number]?.isPlannedAgain = true
    return [.reuse(plan.index)] + planAgain(number, job)
  }

  /// Cancels operations of superseded runs for which nobody waits any more: their time is over, or nobody wants the later run.
  mutating func endWaits(now: Double) -> [Effect] {
    runs.values.compactMap { run in
      guard case .closing(var closing) = run.phase, let end = closing.waitEnd else { return nil }
      let isWanted = runs.values.contains {
        $0.name == run.name && $0.order > run.order && $0.known.unwanted == nil && $0.isUnfinished
      }
      guard now >= end || !isWanted else { return nil }
      closing.waitEnd = nil
      runs[run.number]?.phase = .closing(closing)
      return .cancel(run: run.number, closing.entries, sparing: nil)
    }
  }

  /// Files that were dealt with are looked at again, because the inbox was away; those of live runs are not new for that.
  mutating func inboxReturned() {
    queue.inboxReturned()
    // Of several runs of a job the last one's manifest may be there.
    for run in runs.values.sorted(by: { $0.order < $1.order }) {
      guard let manifest = run.accepted?.manifest, manifest.inboxPath != nil else { continue }
      queue.pass(manifest.file, identity: manifest.identity)
    }
  }

  // MARK: What was not done

  /// Records what was not done of a closing run of which nothing runs any more.
  mutating func recordRest(_ number: Int, _ context: Context) -> [Effect] {
    guard let run = runs[number], case .closing(var closing) = run.phase, !closing.isUnderWay else { return [] }
    closing.isUnderWay = true
    runs[number]?.phase = .closing(closing)
    let plan = closing.entries.plan
    if closing.isSuperseded { return [.recordSuperseded(run: number, plan, hasBegun: closing.hasBegun)] }
    guard closing.entries.isSource else { return [.recordCancelled(run: number, closing.entries)] }
    // There are no rows, because nobody knows its entries.
    let effects = forgetSource(of: number, context)
    guard let run = runs[number] else { return effects }
    let outcome = JobOutcome(withoutEntries: .cancelled, run, context)
    runs[number]?.phase = .reporting(.init(plan: plan, outcome: outcome, hasPredecessor: run.replaces != nil))
    return effects + finish(number, context)
  }

  /// - Parameter tally: What all rows of the run add up to.
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
    guard tally.counts.total > 0 else {
      return effects + remove(run.number) + [.ended(runID: entries.plan.run.runID)]
    }
    var plan = entries.plan
    plan.run = plan.run.inHistory
    let outcome = JobOutcome(
      tally, context.transfers(run.number), at: context.wall, taking: run.elapsed(context)
    ).superseded
    runs[run.number]?.phase = .reporting(.init(plan: plan, outcome: outcome))
    // Its log is in `history`.
    return effects + [.closeLog(run: run.number)] + finish(run.number, context)
  }
}
