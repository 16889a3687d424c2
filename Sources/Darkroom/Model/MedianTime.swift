import Foundation

/// The median of durations, from how many fall into each of 192 ranges between 0.1 ms and 28 minutes, whatever their
/// number. A range is an eighth of a power of two wide, so that the median is at most 4.5 % off; what is shorter or longer
/// counts for the first or the last range.
struct MedianTime: Sendable, Equatable {
  private static let shortest = 0.1
  private static let rangesPerDoubling = 8.0
  private static let ranges = 192

  /// By range; empty before the first duration.
  private var counts: [UInt32] = []
  private var total = 0

  /// The median when the durations are not known any more.
  private var known: Double?

  init() {}

  /// A median that was found before.
  init(milliseconds: Double?) { known = milliseconds }

  /// Adds a duration.
  mutating func add(milliseconds: Double) {
    if counts.isEmpty { counts = Array(repeating: 0, count: Self.ranges) }
    let place = log2(max(milliseconds, Self.shortest) / Self.shortest) * Self.rangesPerDoubling
    counts[min(Int(place), Self.ranges - 1)] += 1
    total += 1
  }

  /// The median in milliseconds, to a tenth; nil without any durations.
  var milliseconds: Double? {
    guard total > 0 else { return known }
    var before = 0
    for (range, count) in counts.enumerated() {
      before += Int(count)
      guard before > (total - 1) / 2 else { continue }
      let middle = Self.shortest * exp2((Double(range) + 0.5) / Self.rangesPerDoubling)
      return (middle * 10).rounded() / 10
    }
    return known
  }

  static func == (a: MedianTime, b: MedianTime) -> Bool { a.milliseconds == b.milliseconds }
}
