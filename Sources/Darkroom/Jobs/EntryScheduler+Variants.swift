import Scheduling

/// What is known of the variants of a job's entries that wait for the download of another one.
struct HeldVariants {
  /// What a variant has downloaded for another.
  struct Inheritance {
    let source: PhotoRecord.Source

    /// Which of the URLs it came from, from 0.
    let mirror: Int
  }

  /// How many wait.
  var count: Int

  /// The variants that others have waited for, which do not any more, by position.
  var told = PositionSet()

  /// Those that wait for one that has started, or that goes on in the run that this one replaces, by its position. Of others
  /// the index knows it.
  var waiting: [Int: [EntryKey]] = [:]

  /// What was downloaded for those that have not started, by their positions.
  var sources: [Int: Inheritance] = [:]

  /// Those that fail as the record of another has, whose download failed.
  var failing: [(position: Int, other: PhotoRecord, failure: EntryFailure)] = []

  init(count: Int) { self.count = count }

  /// Has none of some variants wait any more, wherever they do.
  /// - Parameter positions: Those that are meant.
  mutating func release(_ positions: Set<Int>) {
    for (first, held) in waiting {
      let left = held.filter { !positions.contains($0.position) }
      guard left.count < held.count else { continue }
      count -= held.count - left.count
      waiting[first] = left.isEmpty ? nil : left
    }
  }
}

extension EntryScheduler {
  /// The positions of the variants that wait for the download of another one, which starts.
  func waitingVariants(for entry: Entry, run: Int) throws -> [Int] {
    guard let job = jobs[run], job.variants != nil else { return [] }
    let held = try heldVariants(of: entry, in: job)
    if !held.isEmpty { job.variants?.waiting[entry.position] = held }
    return held.map(\.position)
  }

  private func heldVariants(of entry: Entry, in job: JobEntries) throws -> [EntryKey] {
    guard entry.firstRow != nil, let variants = job.variants else { return [] }
    if let held = variants.waiting[entry.position] { return held }
    if variants.told.contains(entry.position) { return [] }
    return try job.index.heldVariants(of: entry).map(\.key)
  }

  /// Has the variants start that wait for one whose download has succeeded: they ask no host. Where nothing of their job starts
  /// any more, what was downloaded is kept for the run that replaces theirs.
  func startVariants(of record: PhotoRecord, _ source: PhotoRecord.Source, now: Int) throws(IndexError) {
    var shared = source
    shared.isCoalesced = true
    let inheritance = HeldVariants.Inheritance(source: shared, mirror: record.mirror)
    if let job = jobs[record.id.run], job.isStopped {
      job.variants?.waiting[record.id.position] = nil
      for position in record.waitingVariants { job.variants?.sources[position] = inheritance }
      return
    }
    guard let (job, held) = try takeVariants(of: record, now: now) else { return }
    for variant in held {
      job.variants?.sources[variant.position] = inheritance
      hosts.release(variant, job: record.id.run, host: HostScheduler.files, now: now)
    }
  }

  /// Has the variants fail that wait for one that could not be downloaded.
  /// - Parameters:
  ///   - record: Of the one that they wait for.
  ///   - processed: Its record in the run in which it was worked on. Default: the same.
  /// - Returns: The positions of those that fail.
  @discardableResult
  func failVariants(of record: PhotoRecord, as processed: PhotoRecord? = nil, now: Int) throws(IndexError) -> [Int] {
    let processed = processed ?? record
    // What was downloaded in a run that was replaced comes when that is settled.
    guard processed.snapshot.source == nil, let (job, held) = try takeVariants(of: record, now: now) else { return [] }
    let failure = processed.snapshot.failure ?? .dependency(record.entry.shownName, cause: nil)
    job.variants?.failing += held.map { ($0.position, processed, failure) }
    return held.map(\.position)
  }

  /// - Returns: nil when none waits for the record, or they have been told; also when nothing of the job starts any more,
  ///   because its index is then another thread's.
  private func takeVariants(
    of record: PhotoRecord, now: Int
  ) throws(IndexError) -> (job: JobEntries, held: [EntryKey])? {
    guard let job = jobs[record.id.run], !job.isStopped else { return nil }
    let held = try withIndex(of: record.id.run, now: now) { try heldVariants(of: record.entry, in: job) }
    guard !held.isEmpty else { return nil }
    job.variants?.waiting[record.id.position] = nil
    job.variants?.told.insert(record.id.position)
    job.variants?.count -= held.count
    return (job, held)
  }

  /// What another variant has downloaded for one that starts.
  func takeInheritance(_ position: Int, in job: JobEntries) -> HeldVariants.Inheritance? {
    job.variants?.sources.removeValue(forKey: position)
  }

  /// The variants of a job that wait for another one which has started, or goes on in the run that this one replaces: the
  /// position of that, by theirs.
  func waitingVariants(run: Int) -> [Int: Int] {
    var firsts: [Int: Int] = [:]
    for (first, held) in jobs[run]?.variants?.waiting ?? [:] {
      for variant in held { firsts[variant.position] = first }
    }
    return firsts
  }

  /// Finds out which start of the entries that a run did not end which this one has replaced. Of the variants that have
  /// waited for the same download that is the one that was downloaded or, if that has ended, the first; the others wait for it.
  func firstVariants(of positions: Set<Int>, run: Int) -> Set<Int> {
    guard let variants = jobs[run]?.variants else { return positions }
    var starting = positions
    for (first, held) in variants.waiting {
      // Others wait for one that has started in this run.
      var left = held.filter { positions.contains($0.position) }
      guard !left.isEmpty else { continue }
      jobs[run]?.variants?.waiting[first] = nil
      let next = positions.contains(first) ? first : left.removeFirst().position
      if !left.isEmpty { jobs[run]?.variants?.waiting[next] = left }
      jobs[run]?.variants?.count -= held.count - left.count
      starting.subtract(left.map(\.position))
    }
    return starting
  }
}
