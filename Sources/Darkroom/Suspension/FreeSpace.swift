import System

/// Compares the free space of the file systems of outbox and state folder with `--min-free`.
struct FreeSpace {
  /// Bytes that are to remain free.
  var minFree: Int
  private let outbox: String
  private let state: String
  private let read: (String) -> Int
  private let clear: () -> Void

  /// Whether there is room, as of the last check.
  private enum Room { case enough, clearing, scarce }
  private var room = Room.enough
  private var isClearing = false
  var entryRoom = EntryRoom()

  /// Whether the folders are to be checked.
  var needsScan = false

  /// - Parameters:
  ///   - read: Returns the free bytes of a path's file system; `Int.max` when they cannot be read.
  ///   - clear: Begins to clear the cache.
  init(
    outbox: String, state: String, minFree: Int,
    read: @escaping (String) -> Int = { (try? Folder.freeSpace($0)) ?? .max }, clear: @escaping () -> Void
  ) {
    (self.outbox, self.state, self.minFree, self.read, self.clear) = (outbox, state, minFree, read, clear)
  }

  /// Whether the cache is being cleared to make room: nothing begins until then.
  var awaitsRoom: Bool { room == .clearing }

  /// Checks for low disk space: clears the cache first, and suspends the queues only if that is not enough.
  /// - Returns: Why the queues are suspended; nil when there is room, or may be once the cache is cleared.
  mutating func check() -> String? {
    for (folder, name) in [(outbox, "outbox"), (state, "state folder")] {
      let free = read(folder)
      guard free < minFree else { continue }
      switch room {
      case .enough:
        room = .clearing
        clearCache()
      case .clearing where isClearing: break
      case .clearing: room = .scarce
      case .scarce: clearCache()
      }
      guard room == .scarce else { return nil }
      return "\(ByteCount(free)) free in the \(name), and --min-free is \(ByteCount(minFree))"
    }
    room = .enough
    return nil
  }

  mutating func clearCache() {
    guard !isClearing else { return }
    isClearing = true
    clear()
  }

  /// Records that the cache was cleared.
  mutating func cacheWasCleared() {
    isClearing = false
    if awaitsRoom { needsScan = true }
  }

  /// Whether there is room beyond `--min-free` for what another entry will write.
  /// - Parameter inProgress: How many entries are in progress or being delivered.
  mutating func hasRoom(besides inProgress: Int, now: Int) -> Bool {
    guard minFree > 0 else { return true }
    let mayStart = entryRoom.mayStart(inProgress: inProgress, now: now) { [read, outbox, state, minFree] in
      min(read(outbox), read(state)) - minFree
    }
    // Less than `--min-free` is free already.
    if !mayStart, inProgress == 0 { needsScan = true }
    return mayStart
  }

  /// The bytes that are free in the state folder's file system, beyond `--min-free`.
  var freeForState: Int { read(state) - minFree }
}
