/// How many bytes may arrive at a rate: a token bucket. What arrives beyond it is a debt that time pays.
struct ByteBudget {
  /// Bytes per second, at least 1.
  var rate: Int

  /// The bytes that may arrive at once; negative: the debt. As of `time`.
  private var level: Double
  private var time: Double

  /// - Parameter now: In seconds, of any clock that does not jump.
  init(rate: Int, now: Double) {
    self.rate = max(1, rate)
    (level, time) = (0, now)
    level = burst
  }

  /// The bytes that may arrive at once after a pause: 64 KiB, or those of 50 ms if they are more.
  private var burst: Double { max(Double(64 << 10), Double(rate) * 0.05) }

  /// The bytes that have to be there before something that has waited continues, so that it does not wait anew for each
  /// piece: those of 20 ms, but no more than a quarter of the burst.
  private var step: Double { min(burst / 4, Double(rate) * 0.02) }

  private func level(_ now: Double) -> Double { min(level + Double(rate) * max(0, now - time), burst) }

  /// Whether there is no debt.
  func isOpen(_ now: Double) -> Bool { level(now) > 0 }

  /// Counts bytes that have arrived.
  mutating func spend(_ bytes: Int, now: Double) {
    level = level(now) - Double(bytes)
    time = max(time, now)
  }

  /// When something that has waited may continue.
  var opens: Double { time + max(0, step - level) / Double(rate) }
}
