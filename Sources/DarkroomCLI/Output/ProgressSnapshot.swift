/// What a progress display shows at a moment.
struct ProgressSnapshot: Sendable, Equatable {
  /// A job that has not ended.
  struct Job: Sendable, Equatable {
    let name: String
    /// Entries; nil while that is not known.
    var total: Int?
    var ended = 0
    var failed = 0
    /// What it does, where that is not the usual: `planning`.
    var note: String?
  }

  /// A host that is not asked for some time.
  struct HeldHost: Sendable, Equatable {
    let host: String
    let secondsLeft: Double
  }

  /// The live jobs, in the order in which they began.
  var jobs: [Job] = []

  /// Entries of these jobs and of those that ended since there was last none.
  var total = 0
  var ended = 0
  var failed = 0
  /// Entries that are tried again later.
  var deferred = 0

  /// Since there was last no job, in seconds.
  var elapsed = 0.0
  /// Entries a second; nil while that cannot be told.
  var rate: Double?
  /// Bytes that were downloaded a second; nil while that cannot be told.
  var byteRate: Double?
  /// Seconds that the rest takes at this rate.
  var secondsLeft: Double?

  /// Why the queues are suspended.
  var pauses: [String] = []
  /// Those on hold, those that are asked first before others.
  var held: [HeldHost] = []
  /// Those that do not answer.
  var closed: [String] = []
}

/// Something that a progress display can show.
protocol ProgressSource: Sendable {
  /// What is to be shown now; nil while there is nothing.
  /// - Parameter now: Seconds of the monotonic clock.
  mutating func snapshot(at now: Double) -> ProgressSnapshot?
}
