import Model

/// The outcome of a job.
package struct JobSummary: Sendable, Equatable {
  package let job: String
  package let state: JobOutcome.State
  package let counts: JobOutcome.Counts

  /// The comparison of the rows with those of the job's last run; nil when there was none.
  package let sinceLast: SinceLast?

  /// Whether entries failed, and `Configuration.acceptFailures` accepts that.
  package let isAccepted: Bool
  package let transfers: Transfers

  /// The bottlenecks of the run, the largest share first; empty when none is known.
  package let bottlenecks: [Bottleneck]

  /// The reasons why the manifest was rejected, one line each.
  package let problems: [String]

  /// The path of `report.json`.
  package let report: String

  /// The time from acceptance to the end, in seconds.
  package let seconds: Double

  /// Whether its manifest should have replaced a live job's and was rejected. The live job continues. Default: false.
  package var isRejectedReplacement = false

  /// The warning about results of damaged pictures; nil without one. Default: nil.
  package var damaged: String?

  /// The warning that `--prune` has removed nothing; nil without one. Default: nil.
  package var notPruned: String?

  /// The number of files that `--prune` has removed. Default: 0.
  package var pruned = 0

  /// Whether the report of the job's last run has no such warning. Default: false.
  package var isNewlyNotPruned = false

  /// Whether it has no entries, and `Configuration.failEmpty` makes that a failure. Default: false.
  package var isEmptyFailure = false

  /// The failures that earlier processes have found in this run. Default: none.
  package var earlierFailures = FailureCounts()

  /// Whether no other run of the job is live.
  package var isLast: Bool { state != .superseded && !isRejectedReplacement }

  /// Whether the job counts as successful for the exit code.
  var isSuccess: Bool { (state == .succeeded || isAccepted) && !isEmptyFailure }
}
