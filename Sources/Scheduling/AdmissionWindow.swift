/// How many entries may be in progress at once. Scheduling rescans operations that are not ready, so a whole manifest is
/// never enqueued: 13 µs of CPU per pair of operations with 64 pairs pending, 38 with 1024.
package struct AdmissionWindow: Sendable, Equatable {
  /// Entries in the queues whose download has not ended: as many as may run, and a few that wait, so that a free slot is taken
  /// at once. Few, because waiting entries are ahead of those that are dropped next.
  package let downloads: Int

  /// Entries in the queues.
  package let entries: Int

  /// How many entries have to leave a window that is full of entries before others are admitted. So downloads that are ahead of
  /// their filtrations begin and end several at a time, and their threads wake up less often. A window that is being refilled
  /// has downloaded entries: those that are being downloaded alone do not fill it.
  package let refill: Int

  /// Entries in the queues and on their way to the outbox: each holds up to three of the process's descriptors, for its
  /// download and a file of its form, or for its result, its source that is kept, and its preview.
  package let holders: Int

  /// Bytes that are downloaded and not yet filtered.
  package let bytes = 256 << 20

  /// - Parameters:
  ///   - downloads: The limit of the download queue.
  ///   - filtrations: The limit of the filtration queue.
  ///   - descriptors: How many descriptors the process may have.
  package init(downloads: Int, filtrations: Int, descriptors: Int) {
    holders = max(2, min(256, (descriptors - 64) / 4))
    entries = min(2 * (downloads + filtrations) + 8, holders)
    self.downloads = min(downloads + max(4, downloads / 4), entries)
    refill = max(1, min(6, downloads, entries / 4, entries - self.downloads))
  }

  /// The entries of a priority and all higher ones.
  package struct Occupancy: Sendable, Equatable {
    /// In the queues.
    package var entries = 0
    /// In the queues, their download not ended.
    package var downloads = 0
    /// In the queues, downloaded and not yet filtered, in bytes.
    package var bytes = 0

    package init() {}
  }

  /// Whether it is full of entries.
  /// - Parameters:
  ///   - count: The entries of a priority and higher ones in the queues.
  ///   - wasFull: Whether it has been full, and not been refilled since.
  package func isFull(_ count: Int, wasFull: Bool) -> Bool { count > entries - (wasFull ? refill : 1) }

  /// Whether an entry may be admitted. Entries of lower priority take no room from it, except for descriptors.
  /// - Parameters:
  ///   - occupancy: The entries of its priority and higher ones.
  ///   - held: All entries in the queues and on their way to the outbox.
  ///   - wasFull: As in `isFull`. Default: false.
  package func hasRoom(_ occupancy: Occupancy, held: Int, wasFull: Bool = false) -> Bool {
    held < holders && !isFull(occupancy.entries, wasFull: wasFull) && occupancy.downloads < downloads
      && occupancy.bytes < bytes
  }
}
