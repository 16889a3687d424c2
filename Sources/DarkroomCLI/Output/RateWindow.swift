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

  /// Forgets what was: a pause says nothing of the time after it.
  mutating func reset() { samples = [] }
}
