import JSON

/// The keys of a JSON document, from its JSON Schema, which is compiled into the program.
struct SchemaKeys {
  /// A key, with its description in the schema.
  struct Key {
    /// From the outside in, such as `entries[].output.file`.
    let path: String
    let meaning: String
  }

  /// Those of `report.json`.
  static let report = SchemaKeys(PackageResources.report_schema_json)

  /// Those of the lines that `--json` prints.
  static let events = SchemaKeys(PackageResources.events_schema_json)

  /// The schema; null if it cannot be read, which the tests notice.
  private let root: JSONValue

  private init(_ schema: [UInt8]) {
    root = (try? schema.withUnsafeBytes { try JSONDocument(parsing: $0).value() }) ?? .null
  }

  /// In the schema's order.
  var all: [Key] { keys(of: root, at: "") }

  /// The names of the events with their descriptions and required keys.
  var kinds: [(name: String, meaning: String, keys: [String])] {
    guard case .array(let kinds) = root["properties"]?["event"]?["oneOf"] else { return [] }
    return kinds.map { kind in
      let name = kind["const"]?.string ?? ""
      return (name, kind["description"]?.string ?? "", requiredKeys(of: name))
    }
  }

  private func requiredKeys(of event: String) -> [String] {
    guard case .array(let rules) = root["allOf"] else { return [] }
    return rules.filter { rule in
      let condition = rule["if"]?["properties"]?["event"]
      return condition?["const"]?.string == event || condition?["enum"].map(Self.strings)?.contains(event) == true
    }.flatMap { $0["then"]?["required"].map(Self.strings) ?? [] }
  }

  private func keys(of schema: JSONValue, at path: String) -> [Key] {
    guard case .object(let properties) = schema["properties"] else { return [] }
    let required = Set(schema["required"].map(Self.strings) ?? [])
    return properties.flatMap { member -> [Key] in
      let definition = resolved(member.value)
      let path = path + member.key
      let items = definition["items"].map(resolved)
      let inner = items.map { keys(of: $0, at: path + "[].") } ?? keys(of: definition, at: path + ".")
      let sentences = [
        member.value["description"]?.string ?? definition["description"]?.string,
        words(of: definition).map { "One of " + $0.joined(separator: ", ") + "." },
        required.contains(member.key) ? nil : "Optional.",
      ].compactMap { $0 }
      return [Key(path: path, meaning: ([kind(of: definition) + "."] + sentences).joined(separator: " "))] + inner
    }
  }

  /// The target of a reference.
  private func resolved(_ schema: JSONValue) -> JSONValue {
    guard let name = schema["$ref"]?.string?.split(separator: "/").last else { return schema }
    return root["$defs"]?[String(name)] ?? schema
  }

  /// The words that a value is one of; nil when it is no word.
  private func words(of schema: JSONValue) -> [String]? {
    if let words = schema["enum"] { return Self.strings(words) }
    guard case .array(let choices) = schema["anyOf"] else { return nil }
    return choices.flatMap { words(of: resolved($0)) ?? [] }
  }

  private func kind(of schema: JSONValue) -> String {
    if let type = schema["type"]?.string { return type.prefix(1).uppercased() + type.dropFirst() }
    guard let constant = schema["const"] else { return words(of: schema) == nil ? "Anything" : "String" }
    return switch constant {
    case .bool: "Boolean"
    case .integer: "Integer"
    default: "String"
    }
  }

  private static func strings(_ value: JSONValue) -> [String] {
    guard case .array(let values) = value else { return [] }
    return values.compactMap(\.string)
  }
}
