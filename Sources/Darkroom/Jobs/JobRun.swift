import Ledger
import System

/// One run of a manifest while it is live. It belongs to the thread of `Darkroom`.
final class JobRun {
  /// How far the run is, with what that needs.
  enum Phase {
    /// Its manifest is being copied, recorded and planned.
    case planning(JobPlanning)
    /// It waits for a place.
    case ready(Plan)
    /// Its entries are being worked on.
    case running(Running)
    /// All its rows are durable; its report is being written and delivered.
    case finishing(Finishing)
  }

  /// A run whose entries are being worked on.
  struct Running {
    let plan: Plan

    /// What the rows that are durable add up to.
    var tally: JobTally

    /// When this process began with it, in milliseconds of the clock that stands still during pauses, and how many of its
    /// rows there were then.
    let began: (milliseconds: Int, ended: Int)

    var isDone: Bool { tally.counts.total >= plan.total }
  }

  /// A run whose report is to be delivered.
  struct Finishing {
    let plan: Plan
    let outcome: JobOutcome

    /// Its documents, once they are written; then they are not written again.
    var report: ReportDelivery?

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
  var accepted: (job: LedgerJob, manifest: JobManifest)?

  /// Why its report, or the results of some of its entries, cannot be delivered now; nil for most.
  var hold: JobHold?

  /// Since when its manifest cannot be taken out of the inbox, as `Clock.monotonicSeconds`, when nothing else is left of it;
  /// nil for most.
  var manifestSince: Double?

  private var pauseLog = PauseLog()

  /// Its pauses, the oldest first.
  var pauses: [LedgerPause] { pauseLog.pauses }

  /// How long it takes; nil until the job is in the ledger.
  var time: RunTime?

  /// The places of the entries that start last, because the program has ended over them.
  var suspects: [Int] = []

  /// Since when nothing else of it is left, as `Clock.monotonicSeconds`; nil while something is.
  var suspectsSince: Double?

  /// Records of it that are being delivered.
  var undelivered = 0

  /// When its planning or, since then, the work on its entries began, as `Clock.monotonicSeconds`.
  var since: Double

  /// When an entry of it last started, as `Clock.monotonicSeconds`.
  var lastStarted: Double

  init(number: Int, source: JobPlanning.Source, planning: JobPlanning, now: Double) {
    self.number = number
    self.source = source
    name = source.job
    phase = .planning(planning)
    since = now
    lastStarted = now
  }

  /// What `reconcile` needs to know of it.
  var live: LiveJob {
    switch phase {
    case .planning: LiveJob(number: number, name: name, phase: .planning, since: since, lastStarted: since)
    case .ready: LiveJob(number: number, name: name, phase: .ready, since: since, lastStarted: since)
    case .running(let running):
      LiveJob(
        number: number, name: name, phase: running.isDone ? .done : .running, since: since, lastStarted: lastStarted)
    case .finishing(let finishing):
      LiveJob(
        number: number, name: name, phase: finishing.isUnderWay ? .finishing : .unreported, since: since,
        lastStarted: lastStarted, due: hold?.due ?? 0)
    }
  }

  /// What it has in the outbox and elsewhere, once it is planned.
  var plan: Plan? {
    switch phase {
    case .planning: nil
    case .ready(let plan): plan
    case .running(let running): running.plan
    case .finishing(let finishing): finishing.plan
    }
  }

  /// Whether all that is left of it is being delivered.
  var waitsForDelivery: Bool {
    if case .running(let running) = phase {
      running.tally.counts.total + undelivered >= running.plan.total
    } else {
      false
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
