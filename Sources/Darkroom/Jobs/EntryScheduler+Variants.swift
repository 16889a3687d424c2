import Scheduling

/// What is known of the variants of a job's entries that wait for the download of the first one.
struct HeldVariants {
  /// What a variant has downloaded for another.
  struct Inheritance {
    let source: PhotoRecord.Source

    /// Which of the URLs it came from, from 0.
    let mirror: Int
  }

  /// How many wait.
  var count: Int

  /// The entries whose variants do not wait any more, by the positions of their first ones.
  var told = PositionSet()

  /// What was downloaded for those that have not started, by their positions.
  var sources: [Int: Inheritance] = [:]

  /// Those that fail as the record of another has, whose download failed.
  var failing: [(position: Int, other: PhotoRecord, failure: EntryFailure)] = []

  init(count: Int) { self.count = count }
}

extension EntryScheduler {
  /// The positions of the variants that wait for the download of another one.
  func waitingVariants(for entry: Entry, run: Int) throws -> [Int] {
    guard let first = entry.firstRow, let job = jobs[run], job.variants?.told.contains(first) == false else {
      return []
    }
    return try job.index.heldVariants(of: entry).map(\.key.position)
  }

  /// Has the variants start that wait for one whose download has succeeded: they ask no host. Where nothing of their job starts
  /// any more, what was downloaded is kept for the run that replaces theirs.
  func startVariants(of record: PhotoRecord, _ source: PhotoRecord.Source, now: Int) throws(IndexError) {
    var shared = source
    shared.isCoalesced = true
    let inheritance = HeldVariants.Inheritance(source: shared, mirror: record.mirror)
    if let job = jobs[record.id.run], job.isStopped {
      for position in record.waitingVariants { job.variants?.sources[position] = inheritance }
      return
    }
    guard let (_, job, held) = try takeVariants(of: record, now: now) else { return }
    for variant in held {
      job.variants?.sources[variant.key.position] = inheritance
      hosts.release(variant.key, job: record.id.run, host: HostScheduler.files, now: now)
    }
  }

  /// Has the variants fail that wait for one that could not be downloaded.
  func failVariants(of record: PhotoRecord, now: Int) throws(IndexError) {
    guard let (_, job, held) = try takeVariants(of: record, now: now) else { return }
    let failure = record.snapshot.failure ?? .dependency(record.entry.shownName, cause: nil)
    job.variants?.failing += held.map { ($0.key.position, record, failure) }
  }

  /// - Returns: nil when none waits for the record, or they have been told; also when nothing of the job starts any more,
  ///   because its index is then another thread's.
  private func takeVariants(
    of record: PhotoRecord, now: Int
  ) throws(IndexError) -> (first: Int, job: JobEntries, held: [DependencyTracker.Dependent])? {
    guard let first = record.entry.firstRow, let job = jobs[record.id.run], !job.isStopped,
      job.variants?.told.contains(first) == false
    else { return nil }
    let held = try withIndex(of: record.id.run, now: now) { try job.index.heldVariants(of: record.entry) }
    guard !held.isEmpty else { return nil }
    _ = job.variants?.told.insert(first)
    job.variants?.count -= held.count
    return (first, job, held)
  }

  /// What another variant has downloaded for one that starts.
  func takeInheritance(_ position: Int, in job: JobEntries) -> HeldVariants.Inheritance? {
    job.variants?.sources.removeValue(forKey: position)
  }
}
