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

/// How fast counts have grown during the last seconds.
struct RateWindow: Sendable {
  private struct Sample {
    let time: Double
    let ended: Int
    let bytes: Int
  }

  /// How far it looks back, in seconds.
  static let span = 20.0

  private var samples: [Sample] = []

  /// Adds what the counts are now.
  /// - Returns: Entries and bytes a second; nil before a second has passed.
  mutating func add(ended: Int, bytes: Int, at now: Double) -> (entries: Double, bytes: Double)? {
    guard let last = samples.last else {
      samples = [Sample(time: now, ended: ended, bytes: bytes)]
      return nil
    }
    // One that is as old as the span remains.
    while samples.count > 1, samples[1].time <= now - Self.span { samples.removeFirst() }
    if now - last.time >= 1 { samples.append(Sample(time: now, ended: ended, bytes: bytes)) }
    let first = samples[0]
    let seconds = now - first.time
    guard seconds >= 1 else { return nil }
    return (Double(max(0, ended - first.ended)) / seconds, Double(max(0, bytes - first.bytes)) / seconds)
  }

  /// Forgets what was: a pause says nothing about the time after it.
  mutating func reset() { samples = [] }
}
