import Foundation
import Synchronization
import TestSupport

/// A JSON Schema of the documentation, and a real validator for it.
enum JSONSchema {
  /// The names of those that have been found to be schemas: to check one takes far longer than to check a document by it.
  private static let checked = Mutex<Set<String>>([])

  /// What lines of JSON have that a schema does not allow, a line each; empty when they follow it.
  /// - Parameters:
  ///   - name: The file's name in `Documentation/`.
  ///   - isClosed: Whether a key that the schema does not have is one of these: readers must pass over it, and the program must
  ///     not write it. Default: yes.
  static func violations(of lines: Data, name: String, isClosed: Bool = true) throws -> String {
    try violations(of: lines, name: name, isClosed: isClosed, documents: "map(json.loads, sys.stdin)")
  }

  /// As `violations(of:name:isClosed:)`, of one document.
  static func violations(ofDocument document: Data, name: String, isClosed: Bool = true) throws -> String {
    try violations(of: document, name: name, isClosed: isClosed, documents: "[json.load(sys.stdin)]")
  }

  private static func violations(
    of input: Data, name: String, isClosed: Bool, documents: String
  ) throws -> String {
    let script = """
      import json, sys
      from jsonschema import Draft202012Validator as Validator

      def closed(schema):
          if isinstance(schema, list):
              return [closed(value) for value in schema]
          if not isinstance(schema, dict):
              return schema
          schema = {key: closed(value) for key, value in schema.items()}
          if schema.get("type") == "object" and "properties" in schema:
              schema.setdefault("additionalProperties", False)
          return schema

      with open(sys.argv[1], encoding="utf-8") as file:
          schema = json.load(file)
      if sys.argv[3] == "unchecked":
          Validator.check_schema(schema)
      validator = Validator(closed(schema) if sys.argv[2] == "closed" else schema)
      for document in \(documents):
          for error in validator.iter_errors(document):
              print("/".join(map(str, error.path)) + ": " + error.message)
      """
    let isChecked = checked.withLock { $0.contains(name) }
    let arguments = [
      packageRoot + "/Documentation/" + name, isClosed ? "closed" : "open", isChecked ? "checked" : "unchecked",
    ]
    let printed = try TestPython.run(script, arguments, input: input)
    _ = checked.withLock { $0.insert(name) }
    return String(decoding: printed, as: UTF8.self)
  }
}
