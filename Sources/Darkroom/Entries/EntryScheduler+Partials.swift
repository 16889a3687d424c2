import Model

/// What downloads that broke off have left for the next tries of their entries.
extension EntryScheduler {
  /// How many are kept, and how many bytes they may have together: a server that breaks off everything is not to fill the
  /// disk.
  private static let partialLimit = (count: 256, bytes: 1 << 30)

  /// Keeps what the download of an entry has left that is to be tried again at the same URL, if there is room for it.
  func keep(_ partial: PartialDownload?, of id: PhotoRecord.ID) {
    guard let partial, let job = jobs[id.run], var history = job[waiting: id.position] else { return }
    let kept = jobs.values.flatMap(\.partials)
    guard kept.count < Self.partialLimit.count,
      kept.reduce(partial.bytes, { $0 + $1.bytes }) <= Self.partialLimit.bytes
    else { return }
    history.partial = partial
    job.wait(id.position, history)
  }

  /// Removes all of them, because there is no room, or nothing is tried again.
  func dropPartials() { for job in jobs.values { job.dropPartials() } }

  /// Removes those of a job, because nothing of it is tried again.
  func dropPartials(run: Int) { jobs[run]?.dropPartials() }
}
