import JSON
import System

/// The shapes that a manifest of nested values may have: a dictionary *name → string or entry*, an array of strings or
/// entries, or an envelope `{ "defaults": …, "entries": … }` around either.
struct ManifestTree {
  private let root: JSONValue
  private let fields: FieldVocabulary

  init(_ root: JSONValue, _ fields: FieldVocabulary) {
    self.root = root
    self.fields = fields
  }

  func read(_ yield: (ManifestItem) throws -> Void) throws {
    guard case .object(let members) = root else { return try entries(root, at: [], yield) }
    let keys = Set(members.map(\.key))
    if keys.contains("source"), keys.isSubset(of: ["source", "defaults"]) {
      throw ManifestProblem(
        .badValue, "a manifest that is to be downloaded first is not available in this version",
        at: .keyPath(["source"]))
    }
    switch root["entries"] {
    case .array?: try envelope(members, yield)
    // An entry may be called "entries".
    case .object? where root["entries"]?[fields.principal]?.string == nil: try envelope(members, yield)
    default: try entries(root, at: [], yield)
    }
  }

  private func envelope(_ members: [JSONValue.Member], _ yield: (ManifestItem) throws -> Void) throws {
    for member in members where !member.key.hasPrefix("_") {
      guard member.key == "defaults" || member.key == "entries" else {
        throw ManifestProblem(
          .unknownField, NearestName.unknown("field", member.key, among: ["defaults", "entries"]),
          at: .keyPath([member.key]))
      }
    }
    if let defaults = root["defaults"] { try yield(.defaults(defaults, place: .keyPath(["defaults"]))) }
    if let values = root["entries"] { try entries(values, at: ["entries"], yield) }
  }

  private func entries(_ value: JSONValue, at path: [String], _ yield: (ManifestItem) throws -> Void) throws {
    switch value {
    case .object(let members):
      for member in members {
        try yield(.entry(member.value, key: member.key, place: .keyPath(path + [member.key])))
      }
    case .array(let values):
      for (position, element) in values.enumerated() {
        try yield(.entry(element, key: nil, place: .keyPath(path + ["[\(position)]"])))
      }
    default:
      throw ManifestProblem(
        .wrongType, "a manifest is a dictionary or an array, not \(value.kind)",
        at: path.isEmpty ? .file : .keyPath(path))
    }
  }
}
