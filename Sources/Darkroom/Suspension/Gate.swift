/// What may start now: the one place that decides it. What is in progress goes on.
struct Gate: Equatable {
  /// How many entries may start.
  enum Entries: Equatable { case all, one, none }

  /// Why the program ends.
  enum Stop: Equatable { case asked, outOfTime }

  /// Why the program ends. Default: nil, it does not.
  var stop: Stop?

  /// Whether locks, the disk or memory suspend the queues.
  var isPaused = false

  /// Whether memory is scarce, also before that suspends the queues.
  var isShortOfMemory = false

  /// Whether scarce memory is the only cause, and has lasted long enough to let one entry at a time start.
  var allowsOne = false

  /// Whether the disk is a cause, or the result of its check is awaited.
  var isShortOfSpace = false

  /// Whether the result of the disk check is awaited, while the cache is cleared: nothing begins until then.
  var awaitsRoom = false

  /// Whether a write has just failed for want of space.
  var wasRefused = false

  var isStopping: Bool { stop != nil }

  /// How many entries may start.
  var entries: Entries {
    if isStopping || awaitsRoom { return .none }
    guard isPaused || isShortOfMemory else { return .all }
    return allowsOne ? .one : .none
  }

  /// Whether manifests may be planned, and planned jobs begin: they take room, too.
  var mayPlan: Bool { mayClose && !isShortOfSpace }

  /// Whether a run may be cancelled: its waiting entries then need no disk.
  var mayCancel: Bool { !isStopping }

  /// Whether replacements may take effect, and cancelled rows be recorded.
  var mayClose: Bool { !isStopping && !wasRefused }

  /// Whether the report of a run may be written all of whose rows are durable: that takes no longer than what is in progress.
  var mayReport: Bool { stop != .asked && !wasRefused }

  /// Whether both queues are to be suspended. When the program ends they are not: cancelled operations finish only in a queue
  /// that runs.
  var suspendsQueues: Bool { isPaused && !isStopping }
}
