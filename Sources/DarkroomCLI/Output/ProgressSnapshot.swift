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

  /// Entries of these jobs.
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

  /// Whether the program is stopping: what runs may finish, and nothing else begins.
  var isStopping = false
  /// Why the queues are suspended.
  var pauses: [String] = []
  /// Hosts on hold, those that are asked first come first.
  var held: [HeldHost] = []
  /// Failing hosts.
  var closed: [String] = []
}

/// A source of progress that can be displayed.
protocol ProgressSource: Sendable {
  /// The progress now; nil while there is nothing to show.
  /// - Parameter now: Seconds of the monotonic clock.
  mutating func snapshot(at now: Double) -> ProgressSnapshot?
}

/// The rate of downloads during the last seconds.
struct ByteRateWindow: Sendable {
  /// The length of the window, in seconds.
  static let span = 20.0

  private var samples: [(time: Double, bytes: Int)] = []

  /// Adds the current number of bytes. One that is smaller than the last begins a new window: a job has ended.
  /// - Returns: Bytes a second; nil for none, and before a second has passed.
  mutating func add(_ bytes: Int, at now: Double) -> Double? {
    if let last = samples.last, bytes < last.bytes { reset() }
    // Keeps one that is at least as old as the span.
    while samples.count > 1, samples[1].time <= now - Self.span { samples.removeFirst() }
    if now - (samples.last?.time ?? -.infinity) >= 1 { samples.append((now, bytes)) }
    let (time, first) = samples[0]
    guard now - time >= 1, bytes > first else { return nil }
    return Double(bytes - first) / (now - time)
  }

  /// Forgets all samples: rates before a pause do not apply after it.
  mutating func reset() { samples = [] }
}
