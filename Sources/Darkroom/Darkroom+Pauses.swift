import Ledger

/// What suspends the queues, and what a job's report tells of it.
extension Darkroom {
  /// Both queues are suspended while there is a cause; not while the program is stopping, since nothing starts then and
  /// cancelled operations finish only in a queue that runs.
  func pauseOrResume(_ causes: [PauseCause], isStopping: Bool) throws {
    let now = Clock.milliseconds
    let before = pauses.open(since: 0)
    let change = pauses.update(causes, at: now)
    if !isStopping {
      if pauses.isPaused { pending.suspendAll() } else { pending.resumeAll() }
    }
    for cause in change.began { observe(.paused(cause)) }
    for cause in change.ended { observe(.causeGone(cause, remaining: pauses.description)) }
    guard let job = jobAtHand, !change.began.isEmpty || !change.ended.isEmpty else { return }
    for pause in pauses.open(since: job.started) { try note(pause, of: job.runID) }
    for var pause in before where change.ended.contains(where: { $0.kind == pause.cause && $0.lock == pause.lock }) {
      pause.ended = now
      try note(pause.clipped(to: job.started), of: job.runID)
    }
  }

  /// Records the pauses that hold when a job is taken up. Those that held when an earlier process died go on if their
  /// cause is still there; if not, they ended when that process last did something.
  /// A job that could not be begun for want of space was not at hand while it waited.
  func takeUpPauses(of runID: String, started: Int) throws {
    for var pause in try ledger.pauses(run: runID) where pause.ended == nil {
      if pauses.adopt(pause) { continue }
      pause.ended = max(pause.began, lastActive)
      try ledger.record(pause, run: runID)
    }
    for pause in pauses.ended(since: started) + pauses.open(since: started) { try ledger.record(pause, run: runID) }
  }

  /// Records that the pauses of the job at hand end now, because the program or the job does.
  func closePauses() throws {
    guard let job = jobAtHand else { return }
    let now = Clock.milliseconds
    for var pause in pauses.open(since: job.started) {
      pause.ended = now
      try note(pause, of: job.runID)
    }
  }

  private var jobAtHand: (runID: String, started: Int)? {
    if let preparing { return (preparing.job.runID, preparing.manifest.accepted) }
    return (current?.job ?? finishing?.job).map { ($0.runID, $0.started) }
  }

  /// Records a pause, unless the pause is for want of the very room that this takes: it is recorded again when it ends.
  private func note(_ pause: LedgerPause, of runID: String) throws {
    do {
      try ledger.record(pause, run: runID)
    } catch let error as SQLiteError where error.isOutOfSpace {
      return
    }
  }
}
