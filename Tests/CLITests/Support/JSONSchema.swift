import Foundation
import TestSupport

/// A JSON Schema of the documentation, and a real validator for it.
enum JSONSchema {
  /// What lines of JSON have that a schema does not allow, a line each; empty when they follow it.
  /// - Parameter name: The file's name in `Documentation/`.
  static func violations(of lines: Data, name: String) throws -> String {
    let script = """
      import json, sys
      from jsonschema import Draft202012Validator as Validator
      with open(sys.argv[1], encoding="utf-8") as file:
          schema = json.load(file)
      Validator.check_schema(schema)
      for line in sys.stdin:
          for error in Validator(schema).iter_errors(json.loads(line)):
              print("/".join(map(str, error.path)) + ": " + error.message)
      """
    return String(
      decoding: try TestPython.run(script, [packageRoot + "/Documentation/" + name], input: lines), as: UTF8.self)
  }
}
