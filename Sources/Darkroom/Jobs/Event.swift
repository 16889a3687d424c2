/// Something that a person or a script may want to know while it happens.
package enum Event: Sendable {
  /// The program owns its folders and has begun to look.
  case watching(inbox: String, outbox: String)
  /// A file in the inbox is neither a manifest nor a lock; reported once.
  case fileIgnored(name: String, why: String)
  /// The inbox could not be read; nothing follows from that for what is in it.
  case inboxUnreadable(String)
  /// A manifest was accepted, or an unfinished job resumed: it is being planned.
  case jobAccepted(job: String, file: String)
  /// A job has begun or, after a restart, continues.
  case jobStarted(job: String, total: Int, ended: Int)
  /// A download failed and will be tried again: `attempts` tells how often it was tried, `mirror` by which URL it will be
  /// when that is another.
  case entryRetry(
    job: String, name: String, attempts: Int, seconds: Double, mirror: String? = nil, error: ReportRow.Failure)
  /// A server asked for a hold.
  case hostHeld(host: String, seconds: Double, why: String)
  /// An entry's row of the report is durable.
  case entryEnded(job: String, row: ReportRow)
  /// A job's report is written.
  case jobEnded(JobSummary)
  /// The queues are suspended for one more cause.
  case paused(PauseCause)
  /// A cause for which the queues were suspended is gone; `remaining` tells the others, and is empty when they resume.
  case causeGone(PauseCause, remaining: String)
  /// Another configuration is in force.
  case configured
  /// The program was told to stop.
  case stopping
  /// A problem that does not stop the program.
  case warning(String)
}
