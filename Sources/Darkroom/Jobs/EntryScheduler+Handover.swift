import Scheduling

/// What is known of entries of a run that is replaced, and have not begun or wait to be tried again: it is the new run's.
extension EntryScheduler {
  /// The entries of a stopped job of which something is known.
  func waiting(run: Int) -> JobReplacement.Waiting {
    let deferred = (jobs[run]?.deferred.entries ?? []).map { ($0.position, $0) }
    return .init(
      tried: Set(jobs[run]?.waiting.keys.map { $0 } ?? []).union(deferred.map(\.0)),
      downloaded: downloadedVariants(run: run),
      held: waitingVariants(run: run), deferred: Dictionary(deferred, uniquingKeysWith: { first, _ in first }))
  }

  /// The variants of a job that have not started and of which another has downloaded the source, by position.
  func downloadedVariants(run: Int) -> Set<Int> { Set(jobs[run]?.variants?.sources.keys.map { $0 } ?? []) }

  /// How often entries of a job were tried that have not started again, by position.
  func attempts(run: Int) -> [Int: Int] {
    guard let job = jobs[run] else { return [:] }
    return job.waiting.mapValues(\.attempts).filter { $0.value > 0 }
  }

  /// Records how often entries of a job were tried in the run that it replaces, before they start.
  /// - Parameter attempts: By their positions.
  func keep(attempts: [Int: Int], run: Int) {
    guard let job = jobs[run] else { return }
    for (position, attempts) in attempts {
      let earlier = job[waiting: position]
      var history = AttemptHistory(attempts: attempts, firstTried: earlier?.firstTried)
      history.partial = earlier?.partial
      job.wait(position, history)
    }
  }

  /// Removes what broken downloads of a job have left, because nothing of it is tried again.
  /// - Parameter isMeant: Tells by their positions which entries are meant. Default: all.
  func dropPartials(run: Int, where isMeant: (Int) -> Bool = { _ in true }) {
    jobs[run]?.dropPartials(where: isMeant)
  }

  /// Hands over what downloads that broke off have left.
  /// - Parameter places: The entries' places in the new run, by those in the old one.
  func handOverPartials(_ places: [Int: Int], from old: Int, to new: Int) {
    guard let oldJob = jobs[old], let job = jobs[new] else { return }
    for (position, place) in places {
      // Another mirror's would be of no use: the new run begins with the first.
      guard let history = oldJob[waiting: position], let partial = history.partial, history.mirror == 0
      else { continue }
      var handedOver = job[waiting: place] ?? AttemptHistory()
      handedOver.partial = partial
      job.wait(place, handedOver)
    }
    oldJob.dropPartials { places[$0] != nil }
  }

  /// Hands over when entries were first tried that are tried again, or that were begun and did not end.
  /// - Parameter places: The entries' places in the new run, by those in the old one.
  func handOverAges(_ places: [Int: Int], from old: Int, to new: Int) {
    guard let oldJob = jobs[old], let job = jobs[new] else { return }
    for (position, place) in places {
      guard let first = oldJob[started: position]?.firstTried ?? oldJob[waiting: position]?.firstTried else { continue }
      var history = job[waiting: place] ?? AttemptHistory()
      history.firstTried = first
      job.wait(place, history)
    }
  }

  /// Has an entry of a job count as tried as often as the same one of another job, and since then. That goes on.
  func handOverTries(of position: Int, from old: Int, to new: Int) {
    if let attempts = jobs[old]?[waiting: position]?.attempts { keep(attempts: [position: attempts], run: new) }
    handOverAges([position: position], from: old, to: new)
  }

  /// Has nothing of a job start whose entries were all deferred after it was planned, until they are due.
  func passUpcoming(run: Int) { jobs[run]?.passAllUpcoming() }

  /// Hands over how often entries were tried, and since when, what downloads that broke off have left, and the sources of
  /// variants.
  /// - Parameter places: The entries' places in the new run, by those in the old one.
  /// - Throws: `IndexError`, about the new run.
  func handOver(_ places: [Int: Int], from old: Int, to new: Int, now: Int) throws(IndexError) {
    guard let oldJob = jobs[old] else { return }
    let attempts = places.compactMap { position, place in oldJob[waiting: position].map { (place, $0.attempts) } }
    keep(attempts: Dictionary(attempts) { _, last in last }, run: new)
    handOverAges(places, from: old, to: new)
    handOverPartials(places, from: old, to: new)
    try handOverSources(places, from: old, to: new, now: now)
  }

  /// Hands over the sources of variants, which start with them in the new run, unless nothing of that starts any more either.
  /// - Parameter places: The entries' places in the new run, by those in the old one.
  /// - Returns: The places of those that start.
  /// - Throws: `IndexError`, about the new run.
  @discardableResult
  func handOverSources(_ places: [Int: Int], from old: Int, to new: Int, now: Int) throws(IndexError) -> Set<Int> {
    guard let oldJob = jobs[old], let job = jobs[new], oldJob.variants?.sources.isEmpty == false else { return [] }
    var inherited: [Int: HeldVariants.Inheritance] = [:]
    for (position, place) in places { inherited[place] = oldJob.variants?.sources.removeValue(forKey: position) }
    if job.variants == nil { job.variants = HeldVariants(count: 0) }
    job.variants?.sources.merge(inherited) { _, new in new }
    job.variants?.release(Set(inherited.keys))
    guard !job.isStopped else { return [] }
    try withIndex(of: new, now: now) {
      for place in inherited.keys {
        guard let priority = try job.index.place(of: place)?.key.priority else {
          throw StopError.broken("the index lacks entry \(place)")
        }
        let key = EntryKey(priority: priority, position: place)
        hosts.release(key, job: new, host: HostScheduler.files, now: now)
      }
    }
    return Set(inherited.keys)
  }
}
