/// How long what no live run needs is kept. Results stay until their manifest no longer names them, with `--prune`; the
/// download cache is bounded by its size; what was damaged is for people to look at, and is not removed. Everything else goes
/// when its run has ended, or at the next start (`OrphanCleanup`).
package enum Retention {
  /// The record of a result lives as long as its file. Without the file it tells the next run whether its source has changed,
  /// for so many seconds after the delivery.
  package static let resultRecord = 8 * 86_400.0

  /// What failed in a job's last run, and the names that were derived in it, are needed as long as the job has a folder, and
  /// for so many seconds after the run began: a consumer may move the folder away after each run.
  package static let lastRun = 35 * 86_400.0

  /// An ended run is needed while its manifest may be found in the inbox again: so many are remembered before that is looked
  /// at, because it takes a sync.
  package static let endedRuns = 128

  /// What was put aside in `history` stays for so many seconds, whatever `--keep-history` says, so that whoever waits for the
  /// job can read it.
  package static let history = 60.0
}
