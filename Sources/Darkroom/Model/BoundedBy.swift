import JSON

/// What kept a run from being faster, and for which share of its time.
package struct BoundedBy: Sendable, Equatable, Codable {
  package let bound: Bound

  /// Of the run's time in this process, from 0 to 1, rounded down to three digits.
  package let share: Double

  package init(_ bound: Bound, share: Double) { (self.bound, self.share) = (bound, share) }
}

extension BoundedBy {
  /// What bounded a run, as reports and events have it; nil when there is nothing to tell.
  package static func json(_ bounds: [BoundedBy]?) -> JSONValue? {
    bounds.flatMap { $0.isEmpty ? nil : .array($0.map { $0.json }) }
  }

  private var json: JSONValue {
    .object([
      "cause": .string(bound.cause.rawValue), "name": bound.name.map { .string($0) }, "share": .number(share),
      "option": bound.option.map { .string($0) }, "limit": bound.limit.map { .integer($0) },
    ])
  }
}

// MARK: In words

extension BoundedBy {
  /// A smaller share is not worth a sentence.
  private static let leastShare = 0.2

  /// What bounded a run the most, and what would change it, in words; nil when nothing did for a fifth of its time.
  /// - Parameter bounds: The largest share first.
  package static func advice(_ bounds: [BoundedBy]) -> String? {
    guard let first = bounds.first, first.share >= leastShare else { return nil }
    return first.description
  }
}

extension BoundedBy: CustomStringConvertible {
  /// As `bounded by example.com's limit of 6 downloads (63 % of the time): --per-host raises it`.
  package var description: String {
    let percent = Int((share * 100).rounded())
    return "bounded by \(bound.description) (\(percent) % of the time)" + (bound.remedy.map { ": " + $0 } ?? "")
  }
}
