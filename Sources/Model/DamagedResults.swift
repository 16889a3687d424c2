/// Results of damaged pictures, which may look wrong.
package struct DamagedResults: Sendable, Equatable, Codable {
  private struct Named: Sendable, Equatable, Codable {
    let position: Int
    let name: String
  }

  package private(set) var count = 0

  /// The first of them, in the order of the report.
  private var first: [Named] = []

  private static let shown = 3

  mutating func add(_ row: ReportRow, at position: Int) {
    guard row.warnings.contains(where: \.code.mayShow) else { return }
    count += 1
    first.append(Named(position: position, name: row.name))
    first.sort { $0.position < $1.position }
    if first.count > Self.shown { first.removeLast() }
  }

  /// For people.
  package var message: String {
    let names = first.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let more = count > first.count ? " and \(count - first.count) more" : ""
    return count == 1
      ? "1 result is of a damaged picture, and may look wrong: \(names)"
      : "\(count) results are of damaged pictures, and may look wrong: \(names)\(more)"
  }

  /// The position of the first row.
  package var position: Int { first.first?.position ?? 0 }
}

extension ReportRow.Warning.Code {
  /// Whether the damage may show.
  fileprivate var mayShow: Bool {
    switch self {
    case .visibleDamage, .pixelDamage: true
    case .metadataUnreadable, .harmlessDamage: false
    }
  }
}
