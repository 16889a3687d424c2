import Foundation

/// Whether tests take all points instead of some: with `DARKROOM_TEST_ALL=1`, which `script/test-system --all` sets.
enum Sample {
  static let isAll = ProcessInfo.processInfo.environment["DARKROOM_TEST_ALL"] != nil
}

extension Array {
  /// The points at which a test has the program killed, or a call fail: so many of them, evenly spread, first and last
  /// included, or all.
  package func sample(_ count: Int) -> [Element] {
    if Sample.isAll || self.count <= count { return self }
    return (0..<count).map { self[$0 * (self.count - 1) / Swift.max(count - 1, 1)] }
  }
}
