import Ledger
import Scheduling
import System

/// One run of a manifest while it is live. It belongs to the thread of `Darkroom`.
final class JobRun {
  /// How far the run is, with what that needs.
  enum Phase {
    /// Its manifest is being copied, recorded and planned.
    case planning(JobPlanning)
    /// Its entries are listed elsewhere, and that is downloaded; then it is planned again.
    case fetching(Fetching)
    /// It waits for a place.
    case ready(Plan)
    /// Its entries are being worked on.
    case running(RunEntries)
    /// Nobody wants it any more, or another manifest has taken the place of its own: what runs of it ends, then what was not
    /// done is recorded.
    case cancelling(Cancelling)
    /// All its rows are durable; its report is being written and delivered.
    case finishing(Finishing)
  }

  /// A run whose source is downloaded.
  struct Fetching {
    var plan: Plan

    /// Its only entry, once its download has begun; until then it waits for a place.
    var entries: RunEntries?

    /// Whether nobody wants it any more.
    var isCancelled = false
  }

  /// A run that is cancelled or superseded.
  struct Cancelling {
    let entries: RunEntries

    /// Whether the manifest of a later run has taken the place of its own. Default: none has.
    var isSuperseded = false

    /// Those of its operations that may end. Default: none.
    var awaited = Awaited()

    /// Whether entries of it may have begun, now or in an earlier process. Default: they may.
    var hasBegun = true

    /// Whether what was not done is being recorded.
    var isUnderWay = false
  }

  /// Operations of a superseded run that may end, because the later manifest wants the same of the same requests.
  struct Awaited: Equatable {
    /// How long they may take, in seconds.
    static let time = 10.0

    /// Their entries.
    var positions: Set<Int> = []

    /// When they are cancelled, as `Clock.monotonicSeconds`.
    var until = Double.infinity

    /// Keeps those that are wanted still, and none when their time is over.
    /// - Returns: The others, which are to be cancelled.
    mutating func keep(_ wanted: Set<Int>, now: Double) -> Set<Int> {
      let kept = now < until ? positions.intersection(wanted) : []
      defer { positions = kept }
      return positions.subtracting(kept)
    }
  }

  /// What this process knows of a run and the ledger does not.
  struct Known {
    /// Why nobody wants it any more; nil for most.
    var unwanted: CancelReason?

    /// What was asked of servers before it was planned: for its source, and by earlier processes.
    var sourceTransfers = Transfers()

    /// The number that it had when it first became live; nil for one that is live for the first time.
    var order: Int?

    /// What its source has listed, which is in the state folder, until the ledger has it; nil for most.
    var fetched: JobPlanner.Fetched?
  }

  /// Why nobody wants a run any more.
  enum CancelReason: Equatable {
    /// Its manifest was removed from the inbox.
    case removed
    /// It was to be cancelled.
    case requested
  }

  /// A run whose report is to be delivered.
  struct Finishing {
    let plan: Plan
    let outcome: JobOutcome

    /// Its documents, once they are written; then they are not written again.
    var report: ReportDelivery?

    /// Whether the report of the run that it was to replace, which has ended meanwhile, is put aside first. Default: none is.
    var hasPredecessor = false

    /// Whether that is under way; if not, it waits for space.
    var isUnderWay = false
  }

  /// The run's number in this process, from 1.
  let number: Int

  /// The job's name.
  let name: String
  let source: JobPlanning.Source
  var phase: Phase

  /// nil until the job is in the ledger.
  var accepted: (job: LedgerJob, manifest: JobManifest)? {
    didSet { file = accepted.flatMap { $1.inboxPath == nil ? nil : FileName($1.file) } }
  }

  /// The name of its manifest in the inbox; nil when that does not lie there.
  private(set) var file: FileName?

  /// Why its report cannot be delivered now. Default: nil, it can.
  var hold: JobHold?

  /// Since when its manifest cannot be taken out of the inbox, as `Clock.monotonicSeconds`, when nothing else is left of it;
  /// nil for most.
  var manifestSince: Double?

  /// What stays when it is planned again.
  var known = Known()

  /// Why nobody wants it any more; nil for most.
  var unwanted: CancelReason? {
    get { known.unwanted }
    set { known.unwanted = newValue }
  }

  /// The number of the run whose manifest its own is to replace, which may have ended meanwhile; nil for most.
  var replaces: Int?

  /// What was asked of servers before it was planned: for its source, and by earlier processes.
  var sourceTransfers: Transfers {
    get { known.sourceTransfers }
    set { known.sourceTransfers = newValue }
  }

  /// The number that it had when it first became live: later runs of its job are of later manifests.
  var order: Int { known.order ?? number }

  /// Whether it was planned beside the run that it has replaced, and is planned again.
  var isPlannedAgain = false

  /// When the hosts of its source did not answer.
  var sourceHosts = ClosedHosts()

  private var pauseLog = PauseLog()

  /// Its pauses, the oldest first.
  var pauses: [LedgerPause] { pauseLog.pauses }

  /// How long it takes; nil until the job is in the ledger.
  var time: RunTime?

  /// What it is bounded by, in this process; nil until the job is in the ledger.
  var boundedTime: BoundedTime?

  /// When its planning or, since then, the work on its entries began, as `Clock.monotonicSeconds`.
  var since: Double

  init(number: Int, source: JobPlanning.Source, planning: JobPlanning, now: Double) {
    self.number = number
    self.source = source
    name = source.job
    phase = .planning(planning)
    since = now
  }

  /// What `reconcile` needs to know of it.
  var live: LiveJob {
    var live = LiveJob(
      number: number, name: name, phase: .planning, since: since, lastStarted: entries?.lastStarted ?? since)
    live.isUnwanted = unwanted != nil
    live.replaces = replaces
    live.order = order
    switch phase {
    case .planning: break
    case .fetching(let fetching):
      live.isFetching = true
      live.phase = fetching.isCancelled ? .done : fetching.entries != nil ? .running : .ready
    case .ready: live.phase = .ready
    case .running(let entries): live.phase = entries.isDone ? .done : .running
    case .cancelling(let cancelling):
      live.phase = cancelling.isUnderWay || cancelling.entries.undelivered > 0 ? .cancelling : .unrecorded
      live.due = hold?.due ?? 0
    case .finishing(let finishing):
      live.phase = finishing.isUnderWay ? .finishing : .unreported
      live.due = hold?.due ?? 0
    }
    return live
  }

  /// Its entries while they are worked on, or what runs of them ends.
  var entries: RunEntries? {
    switch phase {
    case .running(let entries): entries
    case .cancelling(let cancelling): cancelling.entries
    case .fetching(let fetching): fetching.entries
    case .planning, .ready, .finishing: nil
    }
  }

  /// Why it waits. Default: nil, nothing is in its way.
  var waitReason: String? { hold?.reason ?? entries?.hold?.reason }

  /// Whether it has nothing to do while hosts do not answer.
  var mayWaitForHosts: Bool {
    switch phase {
    case .fetching, .ready, .running: true
    case .planning, .cancelling, .finishing: false
    }
  }

  /// Whether its index is in use on another thread.
  var isUnderWay: Bool {
    switch phase {
    case .cancelling(let cancelling): cancelling.isUnderWay
    case .finishing(let finishing): finishing.isUnderWay
    case .planning, .fetching, .ready, .running: false
    }
  }

  /// Whether it is superseded and has not begun.
  var leavesNothing: Bool {
    if case .cancelling(let cancelling) = phase { cancelling.isSuperseded && !cancelling.hasBegun } else { false }
  }

  /// What it has in the outbox and elsewhere, once it is planned.
  var plan: Plan? {
    switch phase {
    case .planning: nil
    case .fetching(let fetching): fetching.plan
    case .ready(let plan): plan
    case .running(let entries): entries.plan
    case .cancelling(let cancelling): cancelling.entries.plan
    case .finishing(let finishing): finishing.plan
    }
  }

  // MARK: Pauses

  /// Records a pause, or its end.
  /// - Returns: The change for the ledger; nil while the job is not in it.
  func record(_ pause: LedgerPause) -> LedgerChange? {
    guard let accepted else { return nil }
    return .pause(pauseLog.record(pause.clipped(to: accepted.manifest.accepted)), run: accepted.job.runID)
  }
}

extension JobPlanning.Source {
  /// The job's name.
  var job: String {
    switch self {
    case .unfinished(let job): job.name
    case .named(let file): file.job
    case .dropped(let manifest): manifest.job
    }
  }

  /// What messages call it.
  var description: String {
    switch self {
    case .unfinished(let job): "job \(job.name)"
    case .named(let file): file.description
    case .dropped(let manifest): manifest.file
    }
  }
}
