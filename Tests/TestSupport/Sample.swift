import Foundation

extension Array {
  /// The points at which a test has the program killed, or a call fail: so many of them, evenly spread, first and last
  /// included; all with `DARKROOM_TEST_ALL=1`, which `script/test-system --all` sets.
  package func sample(_ count: Int) -> [Element] {
    if ProcessInfo.processInfo.environment["DARKROOM_TEST_ALL"] != nil || self.count <= count { return self }
    return (0..<count).map { self[$0 * (self.count - 1) / Swift.max(count - 1, 1)] }
  }
}
