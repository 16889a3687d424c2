import Foundation
import JSON
import System

/// The shapes of a manifest of nested values: a dictionary *name → string or entry*, an array of strings or entries, an
/// envelope `{ "defaults": …, "entries": … }` around either, or `{ "source": … }` for a list elsewhere.
struct ManifestTree {
  private let root: JSONValue
  private let fields: FieldVocabulary

  init(_ root: JSONValue, _ fields: FieldVocabulary) { (self.root, self.fields) = (root, fields) }

  func read(_ yield: (ManifestItem) throws -> Void) throws {
    guard case .object(let members) = root else { return try entries(root, at: [], yield) }
    if let source = source(members) {
      try self.defaults(yield)
      return try yield(.source(source, location: .file))
    }
    try checkIsNoSource(members)
    let hasDefaults = isDefaults(root["defaults"])
    switch root["entries"] {
    case .array?: try envelope(members, yield)
    // An entry may be called "entries".
    case .object(let entries)? where hasDefaults || !entries.contains(where: isPrincipalText):
      try envelope(members, yield)
    case nil where hasDefaults:
      throw ManifestProblem(
        .badValue,
        "\"entries\" is missing: beside \"defaults\" a manifest has its entries, {\"defaults\": {…}, \"entries\": […]}",
        at: .keyPath(["defaults"]))
    default: try entries(root, at: [], yield)
    }
  }

  private func isPrincipalText(_ member: JSONValue.Member) -> Bool {
    member.value.string != nil && fields.isPrincipal(member.key)
  }

  /// The fields of a reference to a list elsewhere; nil when the entries are here. An entry may be called "source", but not when
  /// it is the only one.
  private func source(_ members: [JSONValue.Member]) -> JSONValue? {
    guard isSource(root["source"]) else { return nil }
    let others = members.filter { !$0.key.hasPrefix("_") && $0.key != "defaults" }
    guard case .object(let canonical) = fields.canonical(.object(others)) else { return nil }
    var taken: Set<String> = []
    let members = canonical.map { member in
      let field = member.key.lowercased()
      // A second one is reported as unknown.
      let isField = fields.sourceFields.contains(field) && taken.insert(field).inserted
      return isField ? JSONValue.Member(field, member.value) : member
    }
    guard members.allSatisfy({ $0.key == "source" || fields.sourceFields.contains($0.key) })
    else { return nil }
    return .object(
      members.map { $0.key == "source" ? JSONValue.Member(fields.principal, $0.value) : $0 })
  }

  /// Whether a value refers to a list: a string, or an array of them.
  private func isSource(_ value: JSONValue?) -> Bool {
    switch value {
    case .string?: true
    case .array(let mirrors)?: mirrors.allSatisfy { $0.string != nil }
    default: false
    }
  }

  /// - Throws: `ManifestProblem` when a dictionary refers to a list and also has fields that belong elsewhere. One with a value
  ///   that may be an entry is a dictionary of entries.
  private func checkIsNoSource(_ members: [JSONValue.Member]) throws(ManifestProblem) {
    guard isSource(root["source"]) else { return }
    let known = Array(fields.cells.keys) + fields.sourceFields
    let others = members.filter {
      !$0.key.hasPrefix("_") && !["source", "defaults"].contains($0.key) && !fields.sourceFields.contains($0.key)
    }
    guard let first = others.first,
      others.allSatisfy({ NearestName.misspelt($0.key, among: known) != nil && !mayBeEntry($0.value) })
    else { return }
    var message = "unknown field \"\(first.key)\" beside \"source\""
    if fields.defaultsFields.contains(first.key) {
      message += "; it belongs in \"defaults\": {\"source\": …, \"defaults\": {\"\(first.key)\": …}}"
    } else if fields.cells[first.key] != nil {
      message += "; it is a field of the entries, which are listed there"
    } else if let field = NearestName.misspelt(first.key, among: known) {
      let isOfDefaults = fields.defaultsFields.contains(field) && !fields.sourceFields.contains(field)
      message += "; did you mean \"\(field)\"" + (isOfDefaults ? " in \"defaults\"?" : "?")
    }
    throw ManifestProblem(.unknownField, message, at: .keyPath([first.key]))
  }

  /// Whether a value may be an entry of a dictionary: an object with the principal field, or a URL or path, which other fields
  /// do not look like.
  private func mayBeEntry(_ value: JSONValue) -> Bool {
    guard let text = value.string else { return fields.principalValue(of: value) != nil }
    if text.contains("://") { return true }
    let suffix = ManifestFormats.fileExtension(of: text) ?? ""
    return !text.has("(") && (text.has("/") || !suffix.isEmpty && suffix.allSatisfy(\.isLetter))
  }

  /// Whether the value of `defaults` belongs to an envelope, and is not an entry of that name.
  private func isDefaults(_ value: JSONValue?) -> Bool {
    guard case .object? = value else { return false }
    return fields.principalValue(of: value) == nil
  }

  /// - Throws: `ManifestProblem` when a dictionary is one entry, not a dictionary of entries: it has the principal field, and its
  ///   keys are fields, except for case, blanks, `-` and `_`; or nearly, if one of them is another field.
  private func checkIsNoEntry(_ members: [JSONValue.Member], at path: [String]) throws(ManifestProblem) {
    let members = members.filter { !$0.key.hasPrefix("_") }
    let known = Array(fields.cells.keys)
    guard let principal = members.first(where: { isPrincipalRespelt($0.key) }) else { return }
    if case .object = principal.value { return }
    let others = members.filter { NearestName.respelt($0.key, among: known) == nil }
    let hasOther = members.contains { !isPrincipalRespelt($0.key) && fields.field($0.key) != nil }
    guard others.isEmpty || hasOther && others.allSatisfy({ NearestName.misspelt($0.key, among: known) != nil }) else {
      return
    }
    let keys = members.prefix(3).map { "\"\($0.key)\": …" }.joined(separator: ", ")
    let message =
      "this is one entry, not a dictionary of entries: put it into a list, [{\(keys)}]. Entries that have the names of "
      + "fields need a list, too, with the field \"name\""
    throw ManifestProblem(.wrongType, message, at: path.isEmpty ? .keyPath([fields.principal]) : .keyPath(path))
  }

  /// The names of entries that other shapes of a manifest have as keys, in lower case, and those shapes.
  private var shapes: [(keys: Set<String>, shape: String)] {
    let url = fields.principal
    return [
      (
        ["source", "sources"],
        "a list elsewhere is {\"source\": …}, beside which only \"defaults\" and fields of a request may be"
      ),
      ([url, url + "s"], "a single entry needs a list around it, [{\"\(url)\": …}]"),
      (["default", "defaults", "entries"], "defaults and entries are {\"defaults\": {…}, \"entries\": […]}"),
    ]
  }

  /// The warning for a dictionary of entries of which one has the name of a key of another shape, perhaps because another key is
  /// misspelt.
  private func misplacedField(_ members: [JSONValue.Member], at path: [String]) -> ManifestWarning? {
    for (keys, shape) in shapes {
      let found = members.first { $0.key.utf8.count <= 8 && keys.contains($0.key.lowercased()) }
      guard let key = found?.key else { continue }
      let message = "an entry has the name \"\(key)\", since this is a dictionary of names and URLs; \(shape)"
      return ManifestWarning(.misplacedField, message, at: .keyPath(path + [key]))
    }
    return nil
  }

  /// Whether a key is the principal field, except for case, blanks, `-` and `_`. Most keys are longer.
  private func isPrincipalRespelt(_ key: String) -> Bool {
    key.utf8.count <= 4 * fields.principal.utf8.count && NearestName.respelt(key, among: [fields.principal]) != nil
  }

  private func envelope(_ members: [JSONValue.Member], _ yield: (ManifestItem) throws -> Void) throws {
    for member in members where !member.key.hasPrefix("_") {
      guard member.key == "defaults" || member.key == "entries" else {
        throw ManifestProblem(
          .unknownField, NearestName.unknown("field", member.key, among: ["defaults", "entries"]),
          at: .keyPath([member.key]))
      }
    }
    try defaults(yield)
    if let values = root["entries"] { try entries(values, at: ["entries"], yield) }
  }

  private func defaults(_ yield: (ManifestItem) throws -> Void) throws {
    guard let defaults = root["defaults"] else { return }
    try yield(.defaults(fields.canonical(defaults), location: .keyPath(["defaults"])))
  }

  private func entries(_ value: JSONValue, at path: [String], _ yield: (ManifestItem) throws -> Void) throws {
    switch value {
    case .object(let members):
      try checkIsNoEntry(members, at: path)
      if let warning = misplacedField(members, at: path) { try yield(.warning(warning)) }
      // Cameras write file names that begin with "_", so only this key is a comment.
      for member in members where member.key != "_comment" {
        try yield(.entry(fields.canonical(member.value), key: member.key, location: .keyPath(path + [member.key])))
      }
    case .array(let values):
      for (position, element) in values.enumerated() {
        try yield(.entry(fields.canonical(element), key: nil, location: .keyPath(path + ["[\(position)]"])))
      }
    default:
      throw ManifestProblem(
        .wrongType, "a manifest is a dictionary or an array, not \(value.kind)",
        at: path.isEmpty ? .file : .keyPath(path))
    }
  }
}
