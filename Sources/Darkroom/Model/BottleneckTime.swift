/// Adds up for how long a run had which bottleneck, in milliseconds of the monotonic clock.
struct BottleneckTime: Sendable {
  private var times: [Bottleneck: (milliseconds: Int, limit: Int?)] = [:]
  private let began: Int

  /// Until when the bottlenecks are known.
  private var reached: Int

  /// The present bottleneck; nil when none is known.
  private(set) var last: Bottleneck?

  /// More bottlenecks than this are counted without their names.
  static let nameLimit = 32

  /// A run that took less has no shares, in milliseconds.
  static let leastTime = 1000

  /// A smaller share is left out.
  static let leastShare = 0.01

  /// - Parameter now: When the run begins, or its part in this process.
  init(now: Int) { (began, reached) = (now, now) }

  /// Counts the time since this was last called.
  /// - Parameter bottleneck: That of this time; nil when none is known.
  mutating func add(_ bottleneck: Bottleneck?, until now: Int) {
    let time = now - reached
    guard time > 0 else { return }
    (reached, last) = (now, bottleneck)
    guard var key = bottleneck else { return }
    // The program may change it.
    key.limit = nil
    if times.count >= Self.nameLimit, times[key] == nil { key.name = nil }
    times[key] = ((times[key]?.milliseconds ?? 0) + time, bottleneck?.limit)
  }

  /// The bottlenecks with their shares of the time, the largest first, rounded down to three digits.
  var shares: [Bottleneck] {
    let total = reached - began
    guard total >= Self.leastTime else { return [] }
    let shares = times.map { key, time in
      let share = Double(time.milliseconds * 1000 / total) / 1000
      return Bottleneck(key.cause, name: key.name, option: key.option, limit: time.limit, share: share)
    }
    return shares.filter { $0.share ?? 0 >= Self.leastShare }
      .sorted { ($0.share ?? 0, $1.cause.rawValue) > ($1.share ?? 0, $0.cause.rawValue) }
  }
}
