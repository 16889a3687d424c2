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
  func takeIn(_ record: PhotoRecord) throws {
    pending.remove(record)
    let live = record.snapshot
    if live.failure?.isOutOfSpace == true {
      postpone(record)
    } else if live.failure?.isOfCache == true {
      current?.job.postpone(record.entry)
    } else if try isTriedAgain(record, live) {
      return
    } else if stopDeadline == nil || live.state == .filtered || live.state == .failed {
      undelivered += 1
      current?.courier.submit(record, isUrgent: pending.inProgress.isEmpty)
    }
  }

  /// Has a failed download tried again, with its next mirror when it has used up its tries with one, if it may be.
  /// - Returns: Whether the entry will be tried again: now, or by the next start.
  private func isTriedAgain(_ record: PhotoRecord, _ live: PhotoRecord.Live) throws -> Bool {
    guard let job = current?.job, let failure = live.failure else { return false }
    let delay = job.delay(after: failure, of: record, attempts: live.attempts, backoff: configuration.backoff)
    guard delay != nil || job.hasMirror(after: failure, of: record) else { return false }
    if stopDeadline == nil {
      if let delay { job.retry(record, after: delay) } else { try job.turnToMirror(record) }
      let mirror = delay == nil ? record.entry.mirrors.first.map(SourceLocation.redacted) : nil
      observe(
        .entryRetry(
          job: job.name, name: record.entry.originalName ?? record.entry.name, attempts: live.attempts,
          seconds: delay ?? 0, mirror: mirror, error: failure.row))
    }
    return true
  }
}
