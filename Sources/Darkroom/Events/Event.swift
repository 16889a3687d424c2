import Manifests
import Model
import Operations

/// Something that a person or a script may want to know while it happens.
package enum Event: Sendable {
  /// The program owns its folders and has begun to look, or does so again.
  case watching(inbox: String, outbox: String, Beginning)
  /// A file in the inbox is neither a manifest nor a lock; reported once.
  case fileIgnored(name: String, why: String)
  /// The inbox could not be read; nothing follows from that for what is in it.
  case inboxUnreadable(String)
  /// A manifest was accepted, or an unfinished job resumed: it is being planned.
  case jobAccepted(job: String, file: String)
  /// A manifest was planned, and something about it is doubtful.
  case manifestDoubtful(job: String, [ManifestWarning])
  /// The entries of a job are listed elsewhere, and that begins to be downloaded. The URL has no secrets.
  case jobFetching(job: String, url: String)
  /// A job has begun or, after a restart, continues.
  case jobStarted(job: String, total: Int, ended: Int, deferred: Int)
  /// A download failed and will be tried again: `attempts` tells how often it was tried, `mirror` by which URL it will be
  /// when that is another.
  case entryRetry(
    job: String, name: String, attempts: Int, seconds: Double, mirror: String? = nil, error: ReportRow.Failure)
  /// A download failed, its retries are used up, and it will be tried again later: `isFirst` tells whether the entry was
  /// not deferred before, `deferred` how many entries of the job are.
  case entryDeferred(
    job: String, name: String, attempts: Int, seconds: Double, isFirst: Bool, error: ReportRow.Failure, deferred: Int)
  /// A server asked for a hold.
  case hostHeld(host: String, seconds: Double, why: String)
  /// A host does not answer any more: its entries wait, and one at a time tries whether it does again.
  case hostClosed(host: String, why: String)
  /// A host that was closed or given up answers again.
  case hostOpened(host: String)
  /// A host has not answered for too long: its entries fail without being tried, but for one now and then.
  case hostGivenUp(host: String, why: String)
  /// An entry's row of the report is durable. `deferred` tells how many entries of the job are.
  case entryEnded(job: String, row: ReportRow, deferred: Int)
  /// The row of an entry that was not done when its run was cancelled is durable.
  case entryCancelled(job: String, row: ReportRow)
  /// Another manifest has taken the place of a live job's.
  case jobReplaced(job: String)
  /// What has not been done of a job is cancelled: its manifest was removed from the inbox or, if `isRemoved` is false, that
  /// was asked for.
  case jobCancelled(job: String, isRemoved: Bool)
  /// A job's report is written.
  case jobEnded(JobSummary)
  /// The queues are suspended for one more cause.
  case paused(PauseCause)
  /// A cause for which the queues were suspended is gone; `remaining` tells the others, and is empty when they resume.
  case causeGone(PauseCause, remaining: String)
  /// Another configuration is in force.
  case configured
  /// The program was told to stop or, for `run`, the time of `--max-duration` is over.
  case stopping(isOutOfTime: Bool)
  /// The program ends before a job has: the next start does the rest. `total` is nil before its manifest is read.
  case jobLeft(job: String, ended: Int, total: Int?)
  /// A worker that decodes pictures was lost: it ended, took too much time, or was killed because of what it did.
  case workerLost(job: String?, name: String?, why: String, workers: DecodingPool.Counts)
  /// A problem that does not stop the program.
  case warning(String)
}

extension Event {
  /// Since when the inbox is watched.
  package enum Beginning: Sendable {
    /// The start of `run`, which does so until nothing is left.
    case run
    /// The start of `watch`.
    case watch
    /// The moment at which an inbox was back that could not be read.
    case inboxReturned
  }

  /// What is known about workers.
  init(_ notice: DecodingPool.Notice, _ counts: DecodingPool.Counts) {
    switch notice {
    case .lost(let job, let entry, let why): self = .workerLost(job: job, name: entry, why: why, workers: counts)
    case .unconfined:
      self = .warning("this system does not confine the processes that decode pictures (seccomp)")
    }
  }
}
