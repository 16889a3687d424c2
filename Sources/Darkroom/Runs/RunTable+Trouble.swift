import Inbox
import Ledger
import System

/// Errors of one job. It is held and tried again, and the others continue.
extension RunTable {
  /// Why work for a run failed, by its consequence.
  enum Trouble {
    /// The program ends. The next start does the work.
    case stopped
    /// There is no space. The queues are suspended, and the work is tried again.
    case noSpace
    /// The work is tried again later.
    /// - Parameter space: The bytes that must be free. Default: nil, the cause is not a lack of space.
    case temporary(String, space: Int? = nil)
    /// The job is left for the next start.
    case permanent(String)
    /// The named manifest does not exist, or cannot be read.
    case missing(String)
    /// The report was delivered, and the manifest cannot be moved out of the inbox now.
    case manifestStays(String)
    /// The index is damaged, or cannot be read. The run is planned again.
    case indexUnreadable(String)
  }

  /// - Parameter work: The work that failed. Closing and reporting are tried again; after planning, the job is returned
  ///   to the queue.
  mutating func failed(_ number: Int, _ work: Work, _ trouble: Trouble, _ context: Context) -> [Effect] {
    guard let run = runs[number] else { return [] }
    switch run.phase {
    case .closing(var closing):
      closing.isUnderWay = false
      runs[number]?.phase = .closing(closing)
    case .reporting(var reporting):
      reporting.isUnderWay = false
      runs[number]?.phase = .reporting(reporting)
    case .planning, .waiting, .running: break
    }
    let isPlanning = work == .planning
    switch trouble {
    case .stopped: return []
    case .noSpace: return isPlanning ? planLater(number) : []
    case .temporary(let reason, let space):
      let subject = isPlanning ? Holds.Subject.planning(run.key) : .ending(number)
      return [.hold(subject, reason, what: run.what(work), space: space)] + (isPlanning ? planLater(number) : [])
    case .permanent(let reason):
      summary.hadTrouble = true
      if run.accepted != nil {
        queue.block(run.name, why: reason)
      } else if case .dropped(let manifest) = run.source {
        queue.ignore(manifest.file, identity: manifest.identity.text)
      }
      let warning = Effect.observe(.warning("\(run.what(work)) cannot be worked on now: \(reason)"))
      return [warning] + (isPlanning ? [] : [.removeEntries(run: number)]) + remove(number)
    case .missing(let message):
      summary.isMissing = true
      return [.observe(.warning(message))] + remove(number)
    case .manifestStays(let obstacle):
      let hold = context.holds[.ending(number)]
      let since = hold?.isOfManifest == true ? hold?.since ?? context.now : context.now
      let latest = queue.goal == .watch ? .infinity : since + Self.manifestWait
      let reason = "the manifest cannot be moved out of the inbox: \(obstacle)"
      return [.hold(.ending(number), reason, what: "job \(run.name)", latest: latest)]
    case .indexUnreadable(let reason): return planAnew(number, reason, context)
    }
  }

  /// Returns a run's job to the queue, to be planned again. A job in the ledger is not accepted again.
  private mutating func planLater(_ number: Int) -> [Effect] {
    guard let run = runs[number] else { return [] }
    let effects = remove(number)
    if let job = run.accepted?.job {
      retry(run, job)
      return effects
    }
    var order: Int?
    if case .unfinished(let job) = run.source { order = knownRuns[job.runID]?.order }
    queue.retry(run.source, order: order)
    return effects
  }

  /// Returns the job of a run to the queue, and keeps what is known about the run.
  private mutating func retry(_ run: JobRun, _ job: LedgerJob) {
    keepKnown(of: run, job)
    queue.retry(.unfinished(job), order: run.order)
  }

  private mutating func keepKnown(of run: JobRun, _ job: LedgerJob) {
    knownRuns[job.runID] = run.known
    knownRuns[job.runID]?.order = run.order
  }

  /// Returns a run that only waits to the queue, so that another can become live. It is planned again later, from the snapshot and
  /// the ledger, like a run of an earlier process: its entries that were tried and not deferred count as not tried.
  mutating func setAside(_ number: Int, _ context: Context) -> [Effect] {
    guard var run = runs[number], let entries = run.entries, var job = run.accepted?.job else { return [] }
    run.known.sourceTransfers = transfers(of: run, context)
    run.known.hosts.ended = context.hostHolds(entries)
    job.state = .running
    let until = min(context.now + JobLimits.asideTime, context.deferredUntil(number) ?? .infinity)
    defer {
      keepKnown(of: run, job)
      queue.setAside(job, order: run.order, file: run.file, until: until)
    }
    return [.removeEntries(run: number)] + remove(number)
  }

  /// Plans a run with an unreadable index again later, from the snapshot and the ledger, like a run of an earlier
  /// process. If the snapshot is unreadable too, the job is then set aside.
  mutating func planAnew(_ number: Int, _ reason: String, _ context: Context) -> [Effect] {
    guard var run = runs[number], var job = run.accepted?.job else { return remove(number) }
    run.known.sourceTransfers = transfers(of: run, context)
    let effects: [Effect] = [
      .hold(.index(job.runID), reason, what: run.what(.planning)), .holdPlanning(of: run.name, runID: job.runID),
      .removeEntries(run: number),
    ]
    job.state = .running
    defer { retry(run, job) }
    return effects + remove(number, isIndexUsable: false)
  }
}
