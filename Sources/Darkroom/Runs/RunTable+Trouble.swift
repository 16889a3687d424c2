import Inbox
import Ledger
import Scheduling
import System

/// What goes wrong with one job: it is held and tried again, and the others go on.
extension RunTable {
  /// Why something could not be done for a run, by what becomes of the run.
  enum Trouble {
    /// The program ends: the next start does it.
    case stopped
    /// There is no room: the queues are suspended, and then it is tried again.
    case noSpace
    /// It is tried again after a while.
    /// - Parameter space: When so many bytes are free. Default: nil, that does not matter.
    case temporary(String, space: Int? = nil)
    /// It is left for the next start.
    case permanent(String)
    /// The manifest that was named is not there, or cannot be read.
    case missing(String)
    /// The report is there, and the manifest cannot be moved out of the inbox now.
    case manifestStays(String)
    /// The index is damaged, or cannot be read: the run is planned again.
    case indexUnreadable(String)
  }

  /// - Parameter work: What failed: in closing or reporting, that is tried again; in planning, the run is planned again when
  ///   its job is taken out of the queue again.
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
      let subject = isPlanning ? Holds.Subject.planning(run.name) : .ending(number)
      return [.hold(subject, reason, what: run.what(work), space: space)] + (isPlanning ? planLater(number) : [])
    case .permanent(let reason):
      summary.hadTrouble = true
      if run.accepted != nil {
        queue.block(run.name)
      } else if case .dropped(let manifest) = run.source {
        queue.pass(manifest.file, identity: manifest.identity.text)
      }
      return [.observe(.warning("\(run.what(work)) cannot be worked on now: \(reason)"))] + remove(number)
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

  /// Plans a run again when its job is taken out of the queue again. Once it is in the ledger it is not accepted again.
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

  /// Puts the job of a run back into the queue. What is known about the run is kept.
  private mutating func retry(_ run: JobRun, _ job: LedgerJob) {
    knownRuns[job.runID] = run.known
    knownRuns[job.runID]?.order = run.order
    queue.retry(.unfinished(job), order: run.order)
  }

  /// Plans a run again after a while from the snapshot and the ledger, as one that an earlier process has worked on: its index
  /// cannot be read. If the snapshot cannot be read either, that sets it aside.
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
