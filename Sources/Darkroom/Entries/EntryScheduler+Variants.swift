import JobIndex
import Model
import Scheduling

/// What is known about the variants of a job's entries that wait for the download of another one.
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

  /// What was downloaded for those that have not started, by their positions.
  var sources: [Int: Inheritance] = [:]

  /// Those that fail as the record of another has, whose download failed.
  var failing: [(position: Int, other: PhotoRecord, failure: EntryFailure)] = []

  init(count: Int) { self.count = count }
}

extension EntryScheduler {
  /// The positions of the variants that wait for the download of another one, which starts.
  func waitingVariants(for entry: Entry, run: Int) throws -> [Int] {
    try jobs[run].map { try heldVariants(of: entry, in: $0).map(\.position) } ?? []
  }

  private func heldVariants(of entry: Entry, in job: JobEntries) throws -> [EntryKey] {
    guard let variants = job.variants, !variants.told.contains(entry.position) else { return [] }
    return try job.index.heldVariants(of: entry)
  }

  /// Starts the variants that wait for one whose download has succeeded: they ask no host.
  func startVariants(of record: PhotoRecord, _ source: PhotoRecord.Source, now: Int) throws(IndexError) {
    var shared = source
    shared.isCoalesced = true
    let inheritance = HeldVariants.Inheritance(source: shared, mirror: record.mirror)
    guard let (job, held) = try takeVariants(of: record, now: now) else { return }
    for variant in held {
      job.variants?.sources[variant.position] = inheritance
      hosts.release(variant, job: record.id.run, host: HostScheduler.files, now: now)
    }
  }

  /// Fails the variants that wait for one that could not be downloaded.
  /// - Parameter record: Of the one that they wait for.
  func failVariants(of record: PhotoRecord, now: Int) throws(IndexError) {
    let live = record.snapshot
    guard live.source == nil, let (job, held) = try takeVariants(of: record, now: now) else { return }
    let failure = live.failure ?? .dependency(record.entry.shownName, cause: nil)
    job.variants?.failing += held.map { ($0.position, record, failure) }
  }

  /// - Returns: nil when none waits for the record, or they have been told; also when nothing of the job starts any more,
  ///   because its index is then another thread's.
  private func takeVariants(
    of record: PhotoRecord, now: Int
  ) throws(IndexError) -> (job: JobEntries, held: [EntryKey])? {
    guard let job = jobs[record.id.run], !job.isStopped else { return nil }
    let held = try withIndex(of: record.id.run, now: now) { try heldVariants(of: record.entry, in: job) }
    guard !held.isEmpty else { return nil }
    job.variants?.told.insert(record.id.position)
    job.variants?.count -= held.count
    return (job, held)
  }

  /// What another variant has downloaded for one that starts.
  func takeInheritance(_ position: Int, in job: JobEntries) -> HeldVariants.Inheritance? {
    job.variants?.sources.removeValue(forKey: position)
  }
}
