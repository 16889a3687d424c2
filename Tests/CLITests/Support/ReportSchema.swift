import Foundation
import TestSupport

/// `Documentation/report.schema.json`.
struct ReportSchema {
  static let path = packageRoot + "/Documentation/report.schema.json"

  /// What a report has that the schema does not allow, or does not have, a line each; empty when it follows the schema.
  static func violations(of report: Data) throws -> String {
    try JSONSchema.violations(ofDocument: report, name: "report.schema.json")
  }

  private let root: Any

  init() throws {
    root = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: Self.path)))
  }

  /// The error codes of entries.
  var entryErrorCodes: Set<String> {
    codes(["downloadErrorCode", "filterErrorCode", "outboxErrorCode", "planErrorCode"])
  }

  /// The error codes of manifests.
  var manifestErrorCodes: Set<String> { codes(["manifestErrorCode"]) }

  /// The names of all keys that a report may have, at any depth.
  var keys: Set<String> { Self.keys(in: root) }

  private func codes(_ definitions: [String]) -> Set<String> {
    let all = (root as? [String: Any])?["$defs"] as? [String: Any] ?? [:]
    return Set(definitions.flatMap { (all[$0] as? [String: Any])?["enum"] as? [String] ?? [] })
  }

  private static func keys(in value: Any) -> Set<String> {
    switch value {
    case let list as [Any]: return list.reduce(into: []) { $0.formUnion(keys(in: $1)) }
    case let object as [String: Any]:
      let own = Set((object["properties"] as? [String: Any] ?? [:]).keys)
      return object.values.reduce(into: own) { $0.formUnion(keys(in: $1)) }
    default: return []
    }
  }
}
