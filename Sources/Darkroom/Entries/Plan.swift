import Delivery
import JobIndex
import Ledger
import Manifests
import Model
import Scheduling

/// A job that can be worked on.
struct Plan: @unchecked Sendable {  // the index has one owner at a time: it is handed over once
  let job: LedgerJob
  var run: RunContext
  var manifest: JobManifest
  let index: JobIndex

  /// How many entries the manifest has.
  let total: Int

  /// Whether earlier runs of the job delivered something.
  let hasOutputs: Bool

  /// Whether there was no run of the job with which this one can be compared.
  var isFirst = true

  /// Whether something failed in the job's last run.
  var hasFailures = false

  /// How often the sources of its rows occur.
  let sources: SourceCounts

  /// What makes the manifest rejected; empty when it is fine.
  let problems: [ManifestProblem]

  /// What is doubtful about it.
  var warnings: [ManifestWarning] = []

  /// Whether the manifest's `defaults` have something that only its owner is to read.
  var hasSecretDefaults = false

  /// What the rows of earlier processes add up to.
  let tally: JobTally

  /// The entries that earlier processes deferred.
  var deferred: [DeferredEntry]

  /// Which entries wait for others; nil when none does.
  var dependencies: DependencyTracker?

  /// How many variants wait for others of their entry.
  var heldVariants = 0

  /// The entries over which earlier processes ended: they start last.
  var suspects: [Int] = []

  /// What records its derived names, with the commit that begins it.
  var names: [LedgerChange] = []

  /// The pauses of earlier processes.
  let pauses: [LedgerPause]

  /// Folders that have a new name in them, and were not synced.
  let unsynced: [String]

  /// The report that an earlier process was delivering: nothing else is left to be done then.
  var report: ReportDelivery?

  /// What the run came to, when there is nothing left to do but its report; nil otherwise.
  var outcome: JobOutcome?

  /// Where its entries are listed: that is downloaded first, and then it is planned again; nil when the manifest lists them.
  var source: Entry?

  /// Why its source, which is a folder, cannot be listed; nil when it can, or is none.
  var sourceFailure: EntryFailure?
}
