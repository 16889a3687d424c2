/// The failures of rows by kind, each with an example.
package struct FailureCounts: Sendable, Equatable {
  package struct Found: Sendable, Equatable {
    package private(set) var count: Int
    /// An entry and why it failed.
    package fileprivate(set) var example: String
    /// Whether the example's entry had also failed in the last run.
    private var isKnown: Bool

    package init(_ example: String, isKnown: Bool) { (count, self.example, self.isKnown) = (1, example, isKnown) }

    /// Adds failures. A new one is a better example than one that is known.
    package mutating func add(_ other: Found) {
      count += other.count
      if isKnown, !other.isKnown { (example, isKnown) = (other.example, false) }
    }
  }

  package private(set) var kinds: [FailureKind: Found] = [:]

  /// Whether one of them may be temporary.
  package private(set) var hasRetryable = false

  package init() {}

  package var isEmpty: Bool { kinds.isEmpty }

  /// Adds the failure of a row, if it has one.
  package mutating func add(_ row: ReportRow) {
    guard let failure = row.failure, let reason = row.reason else { return }
    let kind = FailureKind(code: failure.code, httpStatus: failure.httpStatus)
    add(Found("\(row.title): \(reason)", isKnown: failure.runs ?? 1 > 1), kind)
    if failure.isRetryable { hasRetryable = true }
  }

  /// - Parameter job: The job of the others, which their examples then name. Default: nil, not named.
  package mutating func add(_ other: FailureCounts, of job: String? = nil) {
    for (kind, var found) in other.kinds {
      if let job { found.example = "\(job): \(found.example)" }
      add(found, kind)
    }
    hasRetryable = hasRetryable || other.hasRetryable
  }

  private mutating func add(_ found: Found, _ kind: FailureKind) {
    if kinds[kind]?.add(found) == nil { kinds[kind] = found }
  }
}
