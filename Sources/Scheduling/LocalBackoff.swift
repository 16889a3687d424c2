/// How long what the machine has failed waits before it is tried again: 1 s, then twice as long each time, 60 s at most.
package enum LocalBackoff {
  /// - Parameter attempts: How often it was tried in a row, from 1.
  package static func seconds(attempts: Int) -> Double { Double(min(60, 1 << min(6, max(0, attempts - 1)))) }
}
