import Manifests
import Model
import Operations

/// An event that is reported to users and scripts while it happens.
package enum Event: Sendable {
  /// The program owns its folders and watches the inbox, for the first time or again.
  case watching(inbox: String, outbox: String, Beginning)
  /// A file in the inbox is neither a manifest nor a lock. Reported once.
  case fileIgnored(name: String, why: String)
  /// The inbox could not be read. Nothing is known about its contents.
  case inboxUnreadable(String)
  /// A manifest was accepted, or an unfinished job was resumed, and is being planned.
  case jobAccepted(job: String, file: String)
  /// A manifest was planned with warnings.
  case manifestDoubtful(job: String, [ManifestWarning], new: [ManifestWarning])
  /// The list of a job's entries is being downloaded. The URL has no secrets.
  case jobFetching(job: String, url: String)
  /// A job has begun, or continues after a restart.
  case jobStarted(job: String, total: Int, ended: Int, deferred: Int)
  /// A download failed and will be tried again. `attempts` is the number of tries; `mirror` is the next URL if it is
  /// another one.
  case entryRetry(
    job: String, name: String, attempts: Int, seconds: Double, mirror: String? = nil, error: ReportRow.Failure)
  /// A download failed, its retries are used up, and it is deferred. `isFirst` says whether the entry was not deferred
  /// before; `deferred` is the number of deferred entries of the job.
  case entryDeferred(
    job: String, name: String, attempts: Int, seconds: Double, isFirst: Bool, error: ReportRow.Failure, deferred: Int)
  /// A host is held, or is no longer.
  case host(String, HostEvent)
  /// The row of an entry is durable. `deferred` is the number of deferred entries of the job.
  case entryEnded(job: String, row: ReportRow, deferred: Int)
  /// The row of an entry that was not done when its run was cancelled is durable.
  case entryCancelled(job: String, row: ReportRow)
  /// Another manifest has replaced that of a live job.
  case jobReplaced(job: String)
  /// The remaining entries of a job are cancelled, because its manifest was removed from the inbox or, if `isRemoved`
  /// is false, on request.
  case jobCancelled(job: String, isRemoved: Bool)
  /// The report of a job was delivered.
  case jobEnded(JobSummary)
  /// The queues are suspended for an additional cause.
  case paused(PauseCause)
  /// Many locks have appeared at once, none of which has an event of its own. `names` has a few of them.
  case pausedByLocks(count: Int, names: String)
  /// A cause of the suspension has ended. `remaining` lists the others; it is empty when the queues are resumed.
  case causeGone(PauseCause, remaining: String)
  /// Many locks are gone at once, as in `pausedByLocks` and `causeGone`.
  case locksGone(count: Int, names: String, remaining: String)
  /// A new configuration is used.
  case configured
  /// The program was asked to stop, or the time of `--max-duration` has passed.
  case stopping(isOutOfTime: Bool)
  /// The program ends before a job has: the next start does the rest. `total` is nil before its manifest is read.
  case jobLeft(job: String, ended: Int, total: Int?)
  /// A worker was lost: it ended, took too long, or was killed for exceeding limits or sending invalid messages.
  case workerLost(job: String?, name: String?, why: String, workers: DecodingPool.Counts)
  /// A try to post the notification of an ended run (`--notify`).
  case notification(job: String, NotificationResult)
  /// A line that the program of `--exec` has printed after a job.
  case programOutput(job: String, line: String)
  /// Nothing is left to do but what follows the ends of runs: notifications and programs of `--exec`.
  case awaitingNotices(String)
  /// A problem that does not stop the program. `job` names the job that it is about, nil for none or several; `isKnown` says whether
  /// the last process reported it, too.
  case warning(String, job: String? = nil, isKnown: Bool = false)
}

/// What happened to a host.
package enum HostEvent: Sendable {
  /// The server asked to wait with requests.
  case held(seconds: Double, why: String)
  /// The host is failing. Its entries wait, except for one trial at a time.
  case closed(why: String)
  /// The host, which was on hold, closed or given up, answers again.
  case opened
  /// The host has not answered for too long. Its entries fail without being tried, except for occasional trials.
  case givenUp(why: String)
}

/// The result of a try to post a notification.
package enum NotificationResult: Sendable, Equatable {
  case delivered
  /// It is tried again after so many seconds. `attempts` is the number of tries.
  case failed(why: String, attempts: Int, seconds: Double)
  case givenUp(why: String)

  /// As events and metrics name it.
  package var name: String {
    switch self {
    case .delivered: "delivered"
    case .failed: "failed"
    case .givenUp: "given-up"
    }
  }

  package static let names = ["delivered", "failed", "given-up"]
}

extension Event {
  /// The occasion on which the program begins to watch the inbox.
  package enum Beginning: Sendable {
    /// The start of `run`, which ends when nothing is left.
    case run
    /// The start of `watch`.
    case watch
    /// An inbox that could not be read is readable again.
    case inboxReturned
  }

  /// The event for a notice about workers.
  init(_ notice: DecodingPool.Notice, _ counts: DecodingPool.Counts) {
    switch notice {
    case .lost(let job, let entry, let why): self = .workerLost(job: job, name: entry, why: why, workers: counts)
    case .unconfined:
      self = .warning("this system does not confine the processes that decode pictures (seccomp)")
    }
  }
}
