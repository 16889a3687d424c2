import JSON

/// Something about a job that is doubtful, although no entry failed by it.
struct ReportWarning: Sendable, Equatable {
  /// Stable codes.
  enum Code: String, Sendable, CaseIterable {
    /// Many different URLs gave the same bytes.
    case sameSource = "same-source"
  }

  let code: Code

  /// For people.
  let message: String

  /// Where the first row that it concerns is in the report.
  let place: String

  /// The warning as the report has it.
  var json: JSONValue {
    .object(["code": .string(code.rawValue), "message": .string(message), "where": .string(place)])
  }
}
