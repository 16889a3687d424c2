import JobIndex
import Model
import Scheduling

/// The variants of a job's entries that wait for the download of another variant.
struct HeldVariants {
  /// A source that a variant has downloaded for another.
  struct Inheritance {
    let source: PhotoRecord.Source

    /// The index of the URL that it came from, from 0.
    let mirror: Int
  }

  /// The number of waiting variants.
  var count: Int

  /// The positions of variants whose waiting variants have been released or failed.
  var told = PositionSet()

  /// The sources of variants that have not started, by position.
  var sources: [Int: Inheritance] = [:]

  /// Variants that fail because the download of another variant failed.
  var failing: [(position: Int, other: PhotoRecord, failure: EntryFailure)] = []

  init(count: Int) { self.count = count }
}

extension EntryScheduler {
  /// The positions of the variants that wait for the download of an entry.
  func waitingVariants(for entry: Entry, run: Int) throws -> [Int] {
    try jobs[run].map { try heldVariants(of: entry, in: $0).map(\.position) } ?? []
  }

  private func heldVariants(of entry: Entry, in job: JobEntries) throws -> [EntryKey] {
    guard let variants = job.variants, !variants.told.contains(entry.position) else { return [] }
    return try job.index.heldVariants(of: entry)
  }

  /// Releases the variants that wait for a successful download. They need no request.
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

  /// Fails the variants that wait for a failed download.
  /// - Parameter record: The record of the download.
  func failVariants(of record: PhotoRecord, now: Int) throws(IndexError) {
    let live = record.snapshot
    guard live.source == nil, let (job, held) = try takeVariants(of: record, now: now) else { return }
    let failure = live.failure ?? .dependency(record.entry.shownName, cause: nil)
    job.variants?.failing += held.map { ($0.position, record, failure) }
  }

  /// - Returns: nil when no variant waits for the record (any more), and when the job is stopped, since its index may
  ///   then be used by another thread.
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

  /// Removes and returns the source that another variant has downloaded for an entry that starts.
  func takeInheritance(_ position: Int, in job: JobEntries) -> HeldVariants.Inheritance? {
    job.variants?.sources.removeValue(forKey: position)
  }
}
