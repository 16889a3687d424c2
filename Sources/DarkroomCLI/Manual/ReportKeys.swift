import JSON

/// The keys of a report, from its JSON Schema `Documentation/report.schema.json`, which is compiled into the program.
struct ReportKeys {
  /// A key, with its description in the schema.
  struct Key {
    /// From the outside in, such as `entries[].output.file`.
    let path: String
    let meaning: String
  }

  /// In the schema's order; none if it cannot be read, which the tests notice.
  static let all: [Key] = {
    guard
      let root = try? PackageResources.report_schema_json.withUnsafeBytes({ try JSONDocument(parsing: $0).value() })
    else { return [] }
    return ReportKeys(root: root).keys(of: root, at: "")
  }()

  private let root: JSONValue

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
