/// Whether there is room on a disk for what entries write: those that are in progress or being delivered, and one more.
///
/// How much that is, is not known before their sources have come; so what the last ones took is taken for it. At least one entry
/// may be in progress as long as anything is free.
struct EntryRoom {
  /// What an entry is expected to take, in bytes: more than most pictures as long as nothing has ended.
  private var bytesPerEntry = 8 << 20

  /// The bytes that were free when that was last looked at, without what was written since.
  private var free = 0

  /// When that was, in milliseconds.
  private var checked: Int?

  /// For so long it is not looked at again, in milliseconds: on a network file system that takes time.
  private static let interval = 20

  /// Records what an entry took.
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
  ///   - look: Finds out how many bytes are free.
  mutating func mayStart(inProgress: Int, now: Int, look: () -> Int) -> Bool {
    if checked.map({ now - $0 >= Self.interval }) ?? true { (free, checked) = (look(), now) }
    guard inProgress > 0 else {
      // What was written may have been counted twice: by the last look, and when it ended.
      if free < 0 { (free, checked) = (look(), now) }
      return free >= 0
    }
    return free / bytesPerEntry > inProgress
  }
}
