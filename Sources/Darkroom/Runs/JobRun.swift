import Delivery
import Inbox
import Ledger
import Model
import Scheduling
import System

/// One run of a manifest while it is live.
struct JobRun {
  /// How far the run is, with what that needs.
  indirect enum Phase {
    /// Its manifest is read, or the list of its entries is downloaded.
    case planning(Planning)
    /// It is planned, and waits for a place.
    case waiting(Plan)
    /// Its entries are being worked on.
    case running(RunEntries)
    /// It is cancelled, or superseded by a later manifest: what runs of it ends, then what was not done is recorded.
    case closing(Closing)
    /// All its rows are durable; its report is being written and delivered.
    case reporting(Reporting)
  }

  /// How far the planning of a run is.
  enum Planning {
    /// Its manifest is being copied, recorded and planned.
    case manifest
    /// Its entries are listed elsewhere: it waits for a place, to download that list.
    case unlisted(Plan)
    /// Its list is downloaded, which is the only entry; then it is planned again.
    case list(RunEntries)
  }

  /// What is left of a run that is cancelled or superseded.
  struct Closing {
    let entries: RunEntries

    /// Whether the manifest of a later run has taken the place of its own. Default: none has.
    var isSuperseded = false

    /// When those of its operations are cancelled that may end, as `Clock.monotonicSeconds`; nil when there are none.
    var waitEnd: Double?

    /// Whether entries of it may have begun, now or in an earlier process. Default: they may.
    var hasBegun = true

    /// Whether what was not done is being recorded.
    var isUnderWay = false
  }

  /// What this process knows of a run and the ledger does not.
  struct Known {
    /// Why nobody wants it any more; nil while somebody does.
    var unwanted: CancelReason?

    /// What was asked of servers before it was planned: for its source, and by earlier processes.
    var sourceTransfers = Transfers()

    /// The number that it had when it first became live; nil for one that is live for the first time.
    var order: Int?

    /// What its source has listed, which is in the state folder, until the ledger has it; nil without such a list.
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
  struct Reporting {
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
  @Boxed var accepted: (job: LedgerJob, manifest: JobManifest)? = nil {
    didSet { file = accepted.flatMap { $1.inboxPath == nil ? nil : FileName($1.file) } }
  }

  /// The name of its manifest in the inbox; nil when that does not lie there.
  private(set) var file: FileName?

  /// What stays when it is planned again.
  @Boxed var known = Known()

  /// The number of the run whose manifest its own is to replace, which may have ended meanwhile; nil when it replaces none.
  var replaces: Int?

  /// The number that it had when it first became live: later runs of its job are of later manifests.
  var order: Int { known.order ?? number }

  /// Whether it was planned beside the run that it has replaced, and is planned again.
  var isPlannedAgain = false

  /// When the hosts of its source did not answer.
  @Boxed var sourceHosts = ClosedHosts()

  @Boxed private var pauseLog = PauseLog()

  /// Its pauses, the oldest first.
  var pauses: [LedgerPause] { pauseLog.pauses }

  /// How long it takes; nil until the job is in the ledger.
  var time: RunTime?

  /// Its bottlenecks in this process; nil until the job is in the ledger.
  @Boxed var bottlenecks: BottleneckTime? = nil

  /// When its planning or, since then, the work on its entries began, as `Clock.monotonicSeconds`.
  var since: Double

  init(number: Int, source: JobPlanning.Source, now: Double) {
    self.number = number
    self.source = source
    name = source.job
    phase = .planning(.manifest)
    since = now
  }

  /// Its entries while they are worked on, or what runs of them ends.
  var entries: RunEntries? {
    switch phase {
    case .running(let entries): entries
    case .closing(let closing): closing.entries
    case .planning(.list(let entries)): entries
    case .planning, .waiting, .reporting: nil
    }
  }

  /// A phase without what it needs, to be compared.
  enum Stage { case planning, unlisted, list, waiting, running, done, closing, reporting }

  var stage: Stage {
    switch phase {
    case .planning(.manifest): .planning
    case .planning(.unlisted): .unlisted
    case .planning(.list): .list
    case .waiting: .waiting
    case .running(let entries): entries.isDone ? .done : .running
    case .closing: .closing
    case .reporting: .reporting
    }
  }

  /// Whether it waits for a place.
  var waits: Bool { stage == .waiting || stage == .unlisted }

  /// Whether its entries are worked on, or the list of them is.
  var isWorkedOn: Bool { stage == .running || stage == .list }

  /// Whether the list of its entries is downloaded, or is to be.
  var isFetching: Bool { stage == .unlisted || stage == .list }

  /// Whether there may be something of it to be cancelled.
  var isUnfinished: Bool { stage != .closing && stage != .reporting }

  /// Whether its index is in use on another thread.
  var isUnderWay: Bool {
    switch phase {
    case .closing(let closing): closing.isUnderWay
    case .reporting(let reporting): reporting.isUnderWay
    case .planning, .waiting, .running: false
    }
  }

  /// Whether it is superseded and has not begun.
  var leavesNothing: Bool {
    if case .closing(let closing) = phase { closing.isSuperseded && !closing.hasBegun } else { false }
  }

  /// Whether its documents are written.
  var hasReport: Bool {
    if case .reporting(let reporting) = phase { reporting.report != nil } else { false }
  }

  /// What it has in the outbox and elsewhere, once it is planned.
  var plan: Plan? {
    switch phase {
    case .planning(.manifest): nil
    case .planning(.unlisted(let plan)), .waiting(let plan): plan
    case .planning(.list(let entries)): entries.plan
    case .running(let entries): entries.plan
    case .closing(let closing): closing.entries.plan
    case .reporting(let reporting): reporting.plan
    }
  }

  /// Ends its pauses, because the program or the job does.
  /// - Parameter now: In milliseconds since 1970.
  mutating func closePauses(now: Int) -> [LedgerChange] {
    pauses.filter { $0.ended == nil }.compactMap { pause in
      var pause = pause
      pause.ended = now
      return record(pause)
    }
  }

  /// Records a pause, or its end.
  /// - Returns: The change for the ledger; nil while the job is not in it.
  mutating func record(_ pause: LedgerPause) -> LedgerChange? {
    guard let accepted else { return nil }
    return .pause(pauseLog.record(pause.clipped(to: accepted.manifest.accepted)), run: accepted.job.runID)
  }
}

extension JobRun {
  /// By what it is known to those who want it cancelled; nothing until it is in the ledger.
  var cancelKeys: [String] {
    guard let (job, manifest) = accepted else { return [] }
    guard manifest.inboxPath != nil else { return [job.runID] }
    return [job.runID, CancelRequest.key(ofManifest: manifest.file, identity: manifest.identity)]
  }

  /// What messages call what is being done.
  func what(_ work: RunTable.Work) -> String { work == .planning ? source.description : "the report of job \(name)" }
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

/// Keeps a value in a box of its own, so that what has it is copied quickly. The box is copied when a shared one is changed.
@propertyWrapper
struct Boxed<Value> {
  private final class Box {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  init(wrappedValue: Value) { box = Box(wrappedValue) }

  var wrappedValue: Value {
    get { box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }
}
