import JSON

/// Compares the rows of a run with those of the job's last run. The name of the output identifies a row.
package struct SinceLast: Sendable, Equatable, Codable {
  /// Rows that failed, and did not fail in the last run.
  package var failedNew = 0

  /// Rows that failed in this run and in the last.
  package var failedAgain = 0

  /// Rows that have a result, and failed in the last run.
  package var recovered = 0

  /// Rows with an earlier result, whose source has another SHA-256 now.
  package var changed = 0

  /// Rows with an earlier result, whose source is unchanged.
  package var unchanged = 0

  /// Those of `unchanged` whose result was made again: with other settings, on request, or because its file was changed or missing. nil
  /// when there are none.
  package var remade: Int?

  package init(
    failedNew: Int = 0, failedAgain: Int = 0, recovered: Int = 0, changed: Int = 0, unchanged: Int = 0,
    remade: Int? = nil
  ) {
    (self.failedNew, self.failedAgain, self.recovered) = (failedNew, failedAgain, recovered)
    (self.changed, self.unchanged, self.remade) = (changed, unchanged, remade)
  }

  package mutating func add(_ row: ReportRow) {
    switch row.state {
    case .failed where (row.failure?.runs ?? 1) > 1: failedAgain += 1
    case .failed: failedNew += 1
    case .filtered where row.isRecovered: recovered += 1
    case .filtered: add(isChanged: row.source?.isChanged, isReused: row.isReused)
    case .cancelled: break
    }
  }

  /// Adds a row with a result that did not fail in the last run, without parsing it.
  /// - Parameter text: As for `ReportRow.sourceSHA256`.
  package mutating func add(filtered text: String) {
    add(isChanged: ReportRow.isSourceChanged(text), isReused: ReportRow.isReused(text))
  }

  private mutating func add(isChanged: Bool?, isReused: Bool) {
    switch isChanged {
    case true?: changed += 1
    case false?:
      unchanged += 1
      if !isReused { remade = (remade ?? 0) + 1 }
    case nil: break
    }
  }
}

extension SinceLast {
  /// The counts as reports and events show them.
  package var json: JSONValue {
    .object([
      "failed_new": .integer(failedNew), "failed_again": .integer(failedAgain), "recovered": .integer(recovered),
      "changed": .integer(changed), "unchanged": .integer(unchanged),
      "remade": remade.map { .integer($0) },
    ])
  }

  /// - Returns: nil when a count is missing.
  init?(_ json: JSONValue) {
    guard let failedNew = json["failed_new"]?.integer, let failedAgain = json["failed_again"]?.integer,
      let recovered = json["recovered"]?.integer, let changed = json["changed"]?.integer,
      let unchanged = json["unchanged"]?.integer
    else { return nil }
    self.init(
      failedNew: failedNew, failedAgain: failedAgain, recovered: recovered, changed: changed, unchanged: unchanged,
      remade: json["remade"]?.integer)
  }
}
