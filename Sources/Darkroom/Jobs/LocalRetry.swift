import Model
import Scheduling
import System

/// How long the start tries again what the machine fails, as everything later does: `run` for a minute, `watch` for ever.
package struct LocalRetry {
  /// In seconds; nil for ever.
  private let limit: Double?
  private let now: () -> Double
  private let wait: (_ seconds: Double) -> Bool
  private let report: (String) -> Void

  /// Nothing is tried again.
  package static var none: LocalRetry { LocalRetry(limit: 0, wait: { _ in true }, report: { _ in }) }

  /// How long `run` tries, in seconds.
  package static let usualLimit = WaitLimits.troubleLimit

  /// - Parameters:
  ///   - limit: In seconds; nil for ever.
  ///   - now: The time in seconds, of any clock. Default: the monotonic one.
  ///   - wait: Waits for so many seconds, and returns whether to go on.
  ///   - report: Gets what is to be said: each reason once.
  package init(
    limit: Double?, now: @escaping () -> Double = { Clock.monotonicSeconds },
    wait: @escaping (_ seconds: Double) -> Bool, report: @escaping (String) -> Void
  ) {
    (self.limit, self.now, self.wait, self.report) = (limit, now, wait, report)
  }

  /// Does something, again and again while the machine fails it.
  /// - Throws: What `body` throws for other causes, or without a limit of time; `StopError.machine` when that is over;
  ///   `StopError.outbox` at once when a file system is mounted read-only; `CancellationError` when it is not to go on.
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
