import Model
import Scheduling
import System

/// Retries the start while the machine fails, like later operations: for a minute in `run`, without limit in `watch`.
package struct LocalRetry {
  /// The time limit in seconds; nil for none.
  private let limit: Double?
  private let now: () -> Double
  private let wait: (_ seconds: Double) -> Bool
  private let report: (String) -> Void

  /// A retry that never repeats anything.
  package static var none: LocalRetry { LocalRetry(limit: 0, wait: { _ in true }, report: { _ in }) }

  /// The time limit of `run`, in seconds.
  package static let usualLimit = WaitLimits.troubleLimit

  /// - Parameters:
  ///   - limit: The time limit in seconds; nil for none.
  ///   - now: The time in seconds, of any clock. Default: the monotonic one.
  ///   - wait: Waits for a number of seconds, and returns whether to continue.
  ///   - report: Called once for each new reason.
  package init(
    limit: Double?, now: @escaping () -> Double = { Clock.monotonicSeconds },
    wait: @escaping (_ seconds: Double) -> Bool, report: @escaping (String) -> Void
  ) {
    (self.limit, self.now, self.wait, self.report) = (limit, now, wait, report)
  }

  /// Runs `body`, repeatedly while the machine fails.
  /// - Throws: Errors of `body` with other causes, or if nothing is repeated; `StopError.machine` after the time limit;
  ///   `StopError.outbox` immediately when a file system is mounted read-only; `CancellationError` when `wait` returns
  ///   false.
  package func run<T>(_ body: () throws -> T) throws -> T {
    let began = now()
    var (attempts, reported) = (0, "")
    while true {
      do {
        return try body()
      } catch let error where error.mayPassSoon && limit != 0 {
        if error.isOfReadOnlyMount { throw StopError.outbox("\(error)") }
        attempts += 1
        let left = limit.map { began + $0 - now() } ?? .infinity
        guard left > 0 else { throw StopError.machine(reason: "\(error)", seconds: limit ?? 0) }
        let seconds = min(LocalBackoff.seconds(attempts: attempts), left)
        if reported != "\(error)" {
          reported = "\(error)"
          report("the start fails now, and is tried again in \(Int(seconds.rounded(.up))) s, and then again: \(error)")
        }
        guard wait(seconds) else { throw CancellationError() }
      }
    }
  }
}
