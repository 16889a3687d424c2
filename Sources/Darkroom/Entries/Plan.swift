import Delivery
import JobIndex
import Ledger
import Model
import Scheduling

/// A run that is planned.
struct Plan: @unchecked Sendable {  // the index has one owner at a time: it is handed over once
  let job: LedgerJob
  var run: RunContext
  var manifest: JobManifest
  let index: JobIndex

  /// Number of entries in the manifest.
  let total: Int

  /// What is done with the run.
  var next: Next

  /// What is wrong with the manifest or doubtful.
  var findings = ManifestFindings()

  var earlier = EarlierRuns()

  /// How often the sources of its rows occur.
  let sources: SourceCounts

  /// What the rows of earlier processes add up to.
  var tally = JobTally()

  /// How its entries begin. Default: all are pending.
  var start = Start()

  /// The pauses of earlier processes.
  var pauses: [LedgerPause] = []

  /// Folders that have a new name in them, and were not synced.
  var unsynced: [String] = []

  /// What is done with a planned run.
  enum Next {
    /// Its entries are worked on.
    case work
    /// The list of its entries is downloaded, and it is planned again.
    case fetch(Entry)
    /// It is rejected because of the problems in `findings`.
    case reject
    /// It is rejected because its source, a folder, cannot be listed.
    case rejectSource(EntryFailure)
    /// Its report is written and delivered: all rows are durable.
    case finish(JobOutcome)
    /// The report that an earlier process was delivering is delivered.
    case deliver(ReportDelivery)
  }

  /// What earlier runs of the job left.
  struct EarlierRuns {
    /// Whether there was none with which this one can be compared.
    var isNone = true

    /// Whether some delivered results.
    var hasOutputs = false

    /// Whether entries of the last one failed.
    var hasFailures = false

    /// Whether the report of the last one says that `--prune` has removed nothing.
    var wasNotPruned = false

    /// The new paths of files of others that had the names of documents.
    var movedAway: [String] = []
  }

  /// How entries begin that are not simply pending.
  struct Start {
    /// Those that earlier processes deferred.
    var deferred: [DeferredEntry] = []

    /// Entries that wait for others; nil when none does.
    var dependencies: DependencyTracker?

    /// Number of variants that wait for others of their entry.
    var heldVariants = 0

    /// Suspects: entries in whose filtration earlier processes crashed. They start last.
    var suspects: [Int] = []

    /// Records the run's derived names, with the commit that begins it.
    var names: [LedgerChange] = []
  }

  /// The entry whose download lists the others, if the run has one.
  var source: Entry? { if case .fetch(let source) = next { source } else { nil } }
}
