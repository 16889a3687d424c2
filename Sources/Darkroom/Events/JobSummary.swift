import Model

/// How a job ended.
package struct JobSummary: Sendable, Equatable {
  package let job: String
  package let state: JobOutcome.State
  package let counts: JobOutcome.Counts

  /// How the rows compare with those of the job's last run; nil when there was none.
  package let sinceLast: SinceLast?

  /// Whether some failed, and `Configuration.acceptFailures` accepts that.
  package let isAccepted: Bool
  package let transfers: Transfers

  /// What kept the run from being faster, the largest share first; empty when nothing is known of it.
  package let bottlenecks: [Bottleneck]

  /// What made the manifest rejected, a line each.
  package let problems: [String]

  /// Path of `report.json`.
  package let report: String

  /// From acceptance to the end, in seconds.
  package let seconds: Double

  /// Whether its manifest was to take the place of a live job's, and was rejected: that goes on. Default: no.
  package var isRejectedReplacement = false
}
