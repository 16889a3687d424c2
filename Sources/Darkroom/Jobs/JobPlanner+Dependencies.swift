import Scheduling

extension JobPlanner {
  /// Takes the entries out of an index that wait for others.
  /// - Parameter unsuccessful: Those that others come after and that have ended without success.
  /// - Returns: nil when none waits.
  func tracker(of index: JobIndex, _ unsuccessful: [Int]) throws -> DependencyTracker? {
    guard index.hasDependencies else { return nil }
    let waiting = try index.holdDependents()
    return waiting > 0 ? DependencyTracker(waiting: waiting, unsuccessful: unsuccessful) : nil
  }
}
