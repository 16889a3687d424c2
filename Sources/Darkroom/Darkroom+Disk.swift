import Foundation

/// An outbox without room, or that has gone.
extension Darkroom {
  /// What suspends the queues for want of space.
  func diskCause(_ now: Double) -> [PauseCause] {
    guard var free = try? Folder.freeSpace(outbox.path) else { return [] }
    if free < configuration.minFree, clearCache() { free = (try? Folder.freeSpace(outbox.path)) ?? free }
    if free < configuration.minFree {
      let (free, least) = (ByteCount(free), ByteCount(configuration.minFree))
      return [.disk(reason: "\(free) free in the outbox, and --min-free is \(least)")]
    }
    return now < diskFullUntil ? [.disk(reason: "a write was refused for want of space")] : []
  }

  /// Something could not be written for want of space: it is tried again in a while; until then the queues are suspended.
  func pauseForSpace() {
    _ = clearCache()
    diskFullUntil = Clock.seconds + 5
    stuckSince = stuckSince ?? Clock.milliseconds
    lookSchedule.hurry()
  }

  /// What was downloaded before is worth less than what is to be done.
  /// - Returns: Whether there was something.
  private func clearCache() -> Bool { downloads.clear() }

  /// Has an entry tried again once there is room for its files.
  func postpone(_ record: PhotoRecord) {
    current?.job.postpone(record.entry)
    // What failed before the last pause was over may be told only when the queues go on; that tells nothing of now.
    if record.snapshot.failedAt ?? Clock.seconds >= diskFullUntil { pauseForSpace() }
  }

  /// Looks whether the outbox is still the folder that this process owns: another instance may own another one, and
  /// what is written into an unmounted share's mount point is lost.
  /// - Throws: `StopError.outbox`.
  func checkOutbox() throws {
    do {
      let found = try FileStatus(of: outbox.hidden).identity
      if (found.device, found.inode) == (outboxIdentity.device, outboxIdentity.inode) { return }
    } catch  where error.code != ENOENT && error.code != ENOTDIR {
      return
    } catch {}
    throw StopError.outbox(
      "\(outbox.path): the outbox was removed or replaced; what is not done stays for the next start")
  }
}
