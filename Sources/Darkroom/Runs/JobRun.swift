import Delivery
import Inbox
import Ledger
import Model
import System

/// A live run of a manifest.
struct JobRun {
  /// The phase of the run, with its data.
  indirect enum Phase {
    /// Its manifest is being read, or its list of entries downloaded.
    case planning(Planning)
    /// It is planned, and waits for a slot.
    case waiting(Plan)
    /// Its entries are being processed.
    case running(RunEntries)
    /// It is cancelled, or superseded by a later manifest. Its running operations end, then the remaining entries are
    /// recorded.
    case closing(Closing)
    /// All its rows are durable. Its report is being written and delivered.
    case reporting(Reporting)
  }

  /// The phase of planning.
  enum Planning {
    /// The manifest is being copied, recorded and planned.
    case manifest
    /// The entries are listed elsewhere. The run waits for a slot to download the list.
    case unlisted(Plan)
    /// The list, as the only entry, is being downloaded. Then the run is planned again.
    case list(RunEntries)
  }

  /// A run that is cancelled or superseded.
  struct Closing {
    let entries: RunEntries

    /// Whether the manifest of a later run has replaced its own. Default: false.
    var isSuperseded = false

    /// When operations are cancelled that may still end, as `Clock.monotonicSeconds`; nil when there are none.
    var waitEnd: Double?

    /// Whether entries of it may have begun, in this process or an earlier one. Default: true.
    var hasBegun = true

    /// Whether the remaining entries are being recorded.
    var isUnderWay = false
  }

  /// What this process knows about a run and the ledger does not store.
  struct Known {
    /// Why the run is cancelled; nil when it is not.
    var unwanted: CancelReason?

    /// The requests that were sent before it was planned, for its source and by earlier processes.
    var sourceTransfers = Transfers()

    /// The number that the run had when it first became live; nil for one that is live for the first time.
    var order: Int?

    /// The list from its source, which is in the state folder, until the ledger has it; nil without a list.
    var fetched: JobPlanner.Fetched?

    /// The holds of its hosts before it was planned.
    var hosts = ClosedHosts()
  }

  /// Why a run is cancelled.
  enum CancelReason: Equatable {
    /// Its manifest was removed from the inbox.
    case removed
    /// Cancelling was requested.
    case requested
  }

  /// A run whose report is to be delivered.
  struct Reporting {
    let plan: Plan
    let outcome: JobOutcome

    /// Its documents, once they are written. They are not written again.
    var report: ReportDelivery?

    /// Whether the report of the ended run that it was to replace must be moved to `history` first. Default: false.
    var hasPredecessor = false

    /// Whether the report is being written or delivered. If not, it is held.
    var isUnderWay = false
  }

  /// The run's number in this process, from 1.
  let number: Int

  /// The job's name.
  let name: String
  var key: ByteKey { ByteKey(name) }
  let source: JobPlanning.Source
  var phase: Phase

  /// nil until the job is in the ledger.
  @Boxed var accepted: (job: LedgerJob, manifest: JobManifest)? = nil {
    didSet { file = accepted.flatMap { $1.inboxPath == nil ? nil : FileName($1.file) } }
  }

  /// The name of its manifest in the inbox; nil when it is elsewhere.
  private(set) var file: FileName?

  /// The part of the state that is kept when the run is planned again.
  @Boxed var known = Known()

  /// The number of the run whose manifest its own replaces, which may have ended; nil when it replaces none.
  var replaces: Int?

  /// The number that the run had when it first became live. Later runs of its job have later manifests.
  var order: Int { known.order ?? number }

  /// Whether it was planned beside the run that it has replaced, and is planned again.
  var isPlannedAgain = false

  @Boxed private var pauseLog = PauseLog()

  /// Its pauses, the oldest first.
  var pauses: [LedgerPause] { pauseLog.pauses }

  /// Measures its duration; nil until the job is in the ledger.
  var time: RunTime?

  /// Its bottlenecks in this process; nil until the job is in the ledger.
  @Boxed var bottlenecks: BottleneckTime? = nil

  /// When its planning or, later, the processing of its entries began, as `Clock.monotonicSeconds`.
  var since: Double

  init(number: Int, source: JobPlanning.Source, now: Double) {
    self.number = number
    self.source = source
    name = source.job
    phase = .planning(.manifest)
    since = now
  }

  /// Its entries while they are processed, or while running operations of a closing run end.
  var entries: RunEntries? {
    switch phase {
    case .running(let entries): entries
    case .closing(let closing): closing.entries
    case .planning(.list(let entries)): entries
    case .planning, .waiting, .reporting: nil
    }
  }

  /// A phase without its data, for comparisons.
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

  /// Whether it waits for a slot.
  var waits: Bool { stage == .waiting || stage == .unlisted }

  /// Whether its entries are being processed, or its list of entries is being downloaded.
  var isWorkedOn: Bool { stage == .running || stage == .list }

  /// Whether its list of entries is being downloaded, or will be.
  var isFetching: Bool { stage == .unlisted || stage == .list }

  /// Whether it may have entries to cancel.
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

  /// Whether a later manifest has taken the place of its own.
  var isSuperseded: Bool {
    switch phase {
    case .closing(let closing): closing.isSuperseded
    case .reporting(let reporting): reporting.outcome.state == .superseded
    case .planning, .waiting, .running: false
    }
  }

  /// Whether its documents are written.
  var hasReport: Bool {
    if case .reporting(let reporting) = phase { reporting.report != nil } else { false }
  }

  /// Its plan; nil before it is planned.
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

  /// Ends its pauses, because the program or the job ends.
  /// - Parameter now: In milliseconds since 1970.
  mutating func closePauses(now: Int) -> [LedgerChange] {
    pauses.filter { $0.ended == nil }.compactMap { pause in
      var pause = pause
      pause.ended = now
      return record(pause)
    }
  }

  /// Records a pause, or its end.
  /// - Returns: The change for the ledger; nil while the job is not in it, or when the pause is left out.
  mutating func record(_ pause: LedgerPause) -> LedgerChange? {
    guard let accepted else { return nil }
    return pauseLog.record(pause.clipped(to: accepted.manifest.accepted)).map { .pause($0, run: accepted.job.runID) }
  }
}

extension JobRun {
  /// The keys for requests to cancel it. Until it is in the ledger, only a named manifest has some.
  var cancelKeys: [String] {
    (source.named?.cancelKeys ?? []) + (accepted.map { $1.cancelKeys(of: $0.runID) } ?? [])
  }

  /// The name in messages of what failed.
  func what(_ work: RunTable.Work) -> String { work == .planning ? source.description : "the report of job \(name)" }
}

extension JobManifest {
  /// The keys for requests to cancel a run: that of the run, and that of its manifest, if it was in the inbox.
  func cancelKeys(of runID: String) -> [String] {
    inboxPath == nil ? [runID] : [runID, CancelRequest.key(ofManifest: file, identity: identity)]
  }
}

extension LedgerJob {
  /// The keys for requests to cancel it.
  var cancelKeys: [String] { (try? JobManifest(text: details))?.cancelKeys(of: runID) ?? [runID] }
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

  /// The manifest that was named as an argument; nil for other sources.
  var named: NamedManifest? { if case .named(let file) = self { file } else { nil } }

  /// The name in messages.
  var description: String {
    switch self {
    case .unfinished(let job): "job \(job.name)"
    case .named(let file): file.description
    case .dropped(let manifest): manifest.file
    }
  }
}

/// Stores a value in a box, so that the containing value is copied quickly. A shared box is copied on changes.
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
