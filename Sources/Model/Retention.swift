/// How long data that no live run needs is kept. Results stay until their manifest no longer names them, with
/// `--prune`. The size of the download cache is limited. Damaged files are kept for inspection. All other files are
/// removed when their run has ended, or at the next start (`OrphanCleanup`).
package enum Retention {
  /// How long the ledger keeps the record of a result whose file is missing, in seconds after the delivery. The next
  /// run uses it to find out whether the source has changed. With the file, the record is kept.
  package static let resultRecord = 8 * 86_400.0

  /// How long the failures and derived names of a job's last run are kept when the job has no folder, in seconds after
  /// the run began. A consumer may move the folder away after each run.
  package static let lastRun = 35 * 86_400.0

  /// How many ended runs are remembered before the inbox is checked for their manifests, which requires a sync. An
  /// ended run is needed while its manifest may appear in the inbox again.
  package static let endedRuns = 128

  /// How long reports in `history` are kept at least, in seconds, so that `wait` can read them.
  package static let history = 60.0
}
