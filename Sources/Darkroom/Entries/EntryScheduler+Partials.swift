import Model

/// Partial downloads for the next tries of their entries.
extension EntryScheduler {
  /// The limits of partial downloads, so that a server that breaks off all transfers does not fill the disk.
  private static let partialLimit = (count: 256, bytes: 1 << 30)

  /// Keeps the partial download of an entry that is tried again at the same URL, within the limits.
  func keep(_ partial: PartialDownload?, of id: PhotoRecord.ID) {
    guard let partial, let job = jobs[id.run], var history = job[waiting: id.position] else { return }
    let kept = jobs.values.flatMap(\.partials)
    guard kept.count < Self.partialLimit.count,
      kept.reduce(partial.bytes, { $0 + $1.bytes }) <= Self.partialLimit.bytes
    else { return }
    history.partial = partial
    job.wait(id.position, history)
  }

  /// Removes all partial downloads, when there is no space or nothing is tried again.
  func dropPartials() { for job in jobs.values { job.dropPartials() } }

  /// Removes the partial downloads of a job that tries nothing again.
  func dropPartials(run: Int) { jobs[run]?.dropPartials() }
}
