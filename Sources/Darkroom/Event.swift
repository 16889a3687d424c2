/// Something that a person or a script may want to know while it happens.
package enum Event: Sendable {
  /// The program owns its folders and has begun to look.
  case watching(inbox: String, outbox: String)
  /// A file in the inbox is neither a manifest nor a lock; told once.
  case foreignFile(name: String, why: String)
  /// The inbox could not be looked at; nothing follows from that for what is in it.
  case inboxUnreadable(String)
  /// A manifest was taken over, or an unfinished job up again: its manifest is being planned.
  case jobAccepted(job: String, file: String)
  /// A job has begun or, after a restart, goes on.
  case jobStarted(job: String, total: Int, ended: Int)
  /// A download failed and will be tried again: `attempts` tells how often it was tried, `mirror` by which URL it will be
  /// when that is another.
  case entryRetry(
    job: String, name: String, attempts: Int, seconds: Double, mirror: String? = nil, error: JSONValue)
  /// A server asked to be left alone.
  case hostHeld(host: String, seconds: Double, why: String)
  /// An entry's row of the report is durable.
  case entryEnded(job: String, row: JSONValue)
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
  /// Something is not as it should be, and can be lived with.
  case warning(String)
}
