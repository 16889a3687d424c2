/// Whether there is room on a disk for what entries write: those that are in progress or being delivered, and one more.
///
/// The size of a source is unknown until it is downloaded; the entries that ended last are the estimate. At least one entry may
/// be in progress as long as anything is free.
struct EntryRoom {
  /// The estimate for an entry, in bytes: more than most pictures as long as nothing has ended.
  private var bytesPerEntry = 8 << 20

  /// The free bytes as last read, less what was written since.
  private var free = 0

  /// When they were read, in milliseconds.
  private var checked: Int?

  /// The shortest interval between reads of the free space, in milliseconds: on a network file system a read takes time.
  private static let interval = 20

  /// Records the space that an entry took.
  /// - Parameter bytes: Of its source and its result; 0 when nothing was written.
  mutating func entryEnded(bytes: Int) {
    guard bytes > 0 else { return }
    free -= bytes
    bytesPerEntry = max(bytes, bytesPerEntry - (bytesPerEntry - bytes) / 8)
  }

  /// Whether another entry may start.
  /// - Parameters:
  ///   - inProgress: How many entries are in progress or being delivered.
  ///   - now: Milliseconds of the monotonic clock.
  ///   - readFreeBytes: Returns the number of free bytes.
  mutating func mayStart(inProgress: Int, now: Int, readFreeBytes: () -> Int) -> Bool {
    if checked.map({ now - $0 >= Self.interval }) ?? true { (free, checked) = (readFreeBytes(), now) }
    guard inProgress > 0 else {
      // What was written may have been counted twice: by the last read, and when it ended.
      if free < 0 { (free, checked) = (readFreeBytes(), now) }
      return free >= 0
    }
    return free / bytesPerEntry > inProgress
  }
}
