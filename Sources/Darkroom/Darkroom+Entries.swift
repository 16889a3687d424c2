import Transfer

/// An entry's way through the loop: admitted, and in the end handed to the courier, put off, or tried again.
extension Darkroom {
  /// Starts entries while the window has room.
  func admit() throws {
    guard stopDeadline == nil, !pauses.isPaused, let job = current?.job else { return }
    while pending.hasRoom(besides: undelivered) {
      guard let (entry, attempts) = try job.next(perHost: configuration.transfer.perHost) else { break }
      let isFile = SourceLocation.hostName(of: entry.url) == nil
      pending.start(
        PhotoRecord(entry, attempts: attempts), staging: job.staging, cache: isFile ? nil : cache, reuse: job.reuse)
    }
  }

  /// A download has ended, well or not: its host has room for another, unless it asks to be left alone.
  func leaveHost(_ record: PhotoRecord) throws {
    guard let job = current?.job else { return }
    guard let hold = try job.leave(record, backoff: configuration.backoff) else { return }
    let host = SourceLocation.hostName(of: record.entry.url) ?? ""
    observe(.hostHeld(host: host, seconds: hold, why: record.snapshot.failure?.message ?? ""))
  }

  /// Takes in an entry both of whose operations have finished.
  func takeIn(_ record: PhotoRecord) {
    pending.remove(record)
    let live = record.snapshot
    if live.failure?.isOutOfSpace == true {
      postpone(record)
    } else if live.failure?.isOfCache == true {
      current?.job.postpone(record.entry)
    } else if isTriedAgain(record, live) {
      return
    } else if stopDeadline == nil || live.state == .filtered || live.state == .failed {
      undelivered += 1
      current?.courier.submit(record, isUrgent: pending.inProgress.isEmpty)
    }
  }

  /// Has a failed download tried again, if it may be.
  /// - Returns: Whether the entry will be tried again: now, or by the next start.
  private func isTriedAgain(_ record: PhotoRecord, _ live: PhotoRecord.Live) -> Bool {
    guard let job = current?.job, let failure = live.failure,
      let delay = job.delay(after: failure, of: record, attempts: live.attempts, backoff: configuration.backoff)
    else { return false }
    if stopDeadline == nil {
      job.retry(record, after: delay)
      let name = record.entry.originalName ?? record.entry.name
      observe(
        .entryRetry(job: job.name, name: name, attempts: live.attempts, seconds: delay, error: failure.row))
    }
    return true
  }
}
