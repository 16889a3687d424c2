import JSON
import Scheduling

/// A stretch of time in which entries waited because their host did not answer.
package struct HostHold: Sendable, Equatable, Codable {
  /// How the host failed last: `refused` (no connection came about), `unresolved` (no name server answers), `no-network`, `no-proxy`,
  /// `unanswered` (no connection in time), `silent` (no answer in time) or `broken` (its answers break off, or a gateway says
  /// that it is away).
  package let cause: String

  /// NAME or NAME:PORT; `this machine` for all hosts that had never answered.
  package let host: String

  /// Milliseconds since 1970, UTC.
  package let began: Int
  package let ended: Int

  package init(cause: String, host: String, began: Int, ended: Int) {
    self.cause = cause
    self.host = host
    self.began = began
    self.ended = ended
  }

  /// A report has so many of them at most, the first ones.
  package static let limit = 100

  package var json: JSONValue {
    .object(["host": .string(host), "cause": .string(cause), "from": .time(began), "to": .time(ended)])
  }
}

extension HostBreaker.Failure {
  /// As reports and the status have it.
  package var text: String { rawValue }
}
