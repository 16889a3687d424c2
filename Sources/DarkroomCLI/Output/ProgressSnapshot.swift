/// The contents of a progress display at a moment.
struct ProgressSnapshot: Sendable, Equatable {
  /// A job that has not ended.
  struct Job: Sendable, Equatable {
    let name: String
    /// Entries; nil while the number is not known.
    var total: Int?
    var ended = 0
    var failed = 0
    /// The activity of the job, unless it is the usual one: `planning`.
    var note: String?
  }

  /// A host that is on hold for some time.
  struct HeldHost: Sendable, Equatable {
    let host: String
    let secondsLeft: Double
  }

  /// The live jobs, in the order in which they began.
  var jobs: [Job] = []

  /// Entries of these jobs and of those that ended since the last time without jobs.
  var total = 0
  var ended = 0
  var failed = 0
  /// Entries that are tried again later.
  var deferred = 0

  /// Seconds since the last time without jobs.
  var elapsed = 0.0
  /// Entries a second; nil while that is not known.
  var rate: Double?
  /// Downloaded bytes a second; nil while that is not known.
  var byteRate: Double?
  /// Seconds that the rest takes at this rate.
  var secondsLeft: Double?

  /// Why the queues are suspended.
  var pauses: [String] = []
  /// Hosts on hold, those that are asked first come first.
  var held: [HeldHost] = []
  /// Hosts that do not answer.
  var closed: [String] = []
}

/// A source of progress that can be displayed.
protocol ProgressSource: Sendable {
  /// The progress now; nil while there is nothing to show.
  /// - Parameter now: Seconds of the monotonic clock.
  mutating func snapshot(at now: Double) -> ProgressSnapshot?
}

/// The growth rate of counts during the last seconds.
struct RateWindow: Sendable {
  private struct Sample {
    let time: Double
    let ended: Int
    let bytes: Int
  }

  /// The length of the window, in seconds.
  static let span = 20.0

  private var samples: [Sample] = []

  /// Adds the current counts.
  /// - Returns: Entries and bytes a second; nil before a second has passed.
  mutating func add(ended: Int, bytes: Int, at now: Double) -> (entries: Double, bytes: Double)? {
    guard let last = samples.last else {
      samples = [Sample(time: now, ended: ended, bytes: bytes)]
      return nil
    }
    // Keeps one that is at least as old as the span.
    while samples.count > 1, samples[1].time <= now - Self.span { samples.removeFirst() }
    if now - last.time >= 1 { samples.append(Sample(time: now, ended: ended, bytes: bytes)) }
    let first = samples[0]
    let seconds = now - first.time
    guard seconds >= 1 else { return nil }
    return (Double(max(0, ended - first.ended)) / seconds, Double(max(0, bytes - first.bytes)) / seconds)
  }

  /// Forgets all samples: rates before a pause do not apply after it.
  mutating func reset() { samples = [] }
}
