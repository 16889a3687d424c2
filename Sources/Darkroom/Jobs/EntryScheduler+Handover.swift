import Scheduling

/// What is known of entries of a run that is replaced, and have not begun or wait to be tried again: it is the new run's.
extension EntryScheduler {
  /// The entries of a stopped job of which something is known.
  func waiting(run: Int) -> JobReplacement.Waiting {
    let job = jobs[run]
    return .init(
      tried: Set(job?.attempts.keys.map { $0 } ?? []), downloaded: Set(job?.variants?.sources.keys.map { $0 } ?? []))
  }

  /// Records how often entries of a job were tried in the run that it replaces, before they start.
  /// - Parameter attempts: By their positions.
  func keep(attempts: [Int: Int], run: Int) {
    jobs[run]?.attempts.merge(attempts) { _, last in last }
  }

  /// Removes what broken downloads of a job have left, because nothing of it is tried again.
  /// - Parameter isMeant: Tells by their positions which entries are meant. Default: all.
  func dropPartials(run: Int, where isMeant: (Int) -> Bool = { _ in true }) {
    guard let job = jobs[run], !job.partials.isEmpty else { return }
    job.partials = job.partials.filter { !isMeant($0.key) }
  }

  /// Hands over what downloads that broke off have left.
  /// - Parameter places: The entries' places in the new run, by those in the old one.
  func handOverPartials(_ places: [Int: Int], from old: Int, to new: Int) {
    guard let oldJob = jobs[old], let job = jobs[new] else { return }
    // Another mirror's would be of no use: the new run begins with the first.
    for (position, partial) in oldJob.partials where oldJob.mirrorFailures[position] == nil {
      if let place = places[position] { job.partials[place] = partial }
    }
    oldJob.partials = oldJob.partials.filter { places[$0.key] == nil }
  }

  /// Hands over how often entries were tried, what downloads that broke off have left, and the sources of variants.
  /// - Parameter places: The entries' places in the new run, by those in the old one.
  /// - Throws: `IndexError`, about the new run.
  func handOver(_ places: [Int: Int], from old: Int, to new: Int, now: Int) throws(IndexError) {
    guard let oldJob = jobs[old], let job = jobs[new] else { return }
    for (position, place) in places {
      if let attempts = oldJob.attempts[position] { job.attempts[place] = attempts }
    }
    handOverPartials(places, from: old, to: new)
    try withIndex(of: new, now: now) {
      for (position, place) in places {
        guard let inheritance = oldJob.variants?.sources.removeValue(forKey: position),
          let priority = try job.index.place(of: place)?.key.priority
        else { continue }
        if job.variants == nil { job.variants = HeldVariants(count: 0) }
        job.variants?.sources[place] = inheritance
        let key = EntryKey(priority: priority, position: place)
        hosts.release(key, job: new, host: HostScheduler.files, now: now)
      }
    }
  }
}
