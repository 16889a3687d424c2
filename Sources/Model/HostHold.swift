import JSON
import Scheduling

/// A period in which entries waited because their host was failing.
package struct HostHold: Sendable, Equatable, Codable {
  /// The last failure of the host: `refused` (no connection), `unresolved` (no name server answers), `no-network`,
  /// `no-proxy`, `unanswered` (connect timeout), `silent` (no answer in time) or `broken` (answers break off, or a
  /// gateway reports that the host is down).
  package let cause: String

  /// NAME or NAME:PORT, or `thisMachine`.
  package let host: String

  /// The name that stands for all hosts that have never answered, as long as no new host can be asked.
  package static let thisMachine = "this machine"

  /// Milliseconds since 1970, UTC.
  package let began: Int
  package let ended: Int

  package init(cause: String, host: String, began: Int, ended: Int) {
    self.cause = cause
    self.host = host
    self.began = began
    self.ended = ended
  }

  /// The most holds in a report. Later ones are left out.
  package static let limit = 100

  package var json: JSONValue {
    .object(["host": .string(host), "cause": .string(cause), "from": .time(began), "to": .time(ended)])
  }
}

extension HostBreaker.Failure {
  /// As it appears in reports and the status.
  package var text: String { rawValue }
}
