import CJansson
import System

/// A JSON text parsed by jansson, which keeps the order, rejects duplicate keys and reports line and column.
package final class JSONDocument {
  /// The limit of nested arrays and objects.
  package static let depthLimit = 32

  private let root: UnsafeMutablePointer<json_t>

  /// Parses UTF-8 text with one JSON value.
  /// - Parameter line: The line of the text's beginning in its file, for messages; from 1.
  /// - Parameter allowingNUL: Whether strings may contain U+0000; keys never may. Default: false.
  /// - Throws: `JSONError` with line and column; for the first key that occurs twice, those of both.
  package init(
    parsing text: UnsafeRawBufferPointer, line: Int = 1, allowingNUL: Bool = false
  ) throws(JSONError) {
    do throws(JSONError) {
      root = try Self.load(text, line: line, flags: JSON_REJECT_DUPLICATES | (allowingNUL ? JSON_ALLOW_NUL : 0))
    } catch  where error.code == .duplicateKey {
      throw DuplicateKeys.find(in: text, line: line, limit: 1).first ?? error
    }
  }

  /// Parses a text in which a key occurs twice, and keeps the last value of such a key.
  /// - Parameters:
  ///   - allowingNUL: Whether strings may contain U+0000. Default: false.
  ///   - duplicates: Gets one error for each key that occurs again, at most 100; when the text is also invalid JSON, for those
  ///     before the error.
  /// - Throws: `JSONError` with line and column.
  package init(
    parsing text: UnsafeRawBufferPointer, line: Int = 1, allowingNUL: Bool = false,
    reporting duplicates: inout [JSONError]
  ) throws(JSONError) {
    let found = DuplicateKeys.find(in: text, line: line, limit: 100)
    do throws(JSONError) {
      root = try Self.load(text, line: line, flags: allowingNUL ? JSON_ALLOW_NUL : 0)
      duplicates = found
    } catch {
      duplicates = found.filter { $0.location.isBefore(error.location) }
      throw error
    }
  }

  /// Whether a text may have more values than a limit, members and elements of all arrays and objects together. Each takes up to
  /// a hundred times its bytes in memory. Takes a fraction of the time of parsing.
  package static func hasMoreValues(than limit: Int, in text: UnsafeRawBufferPointer) -> Bool {
    var (count, isInString, isEscaped) = (0, false, false)
    for byte in text {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\"): isEscaped = isInString
      case UInt8(ascii: "\""): isInString.toggle()
      case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"):
        if !isInString { count += 1 }
        if count > limit { return true }
      default: break
      }
    }
    return false
  }

  private static func load(
    _ text: UnsafeRawBufferPointer, line: Int, flags: Int32
  ) throws(JSONError) -> UnsafeMutablePointer<json_t> {
    var error = json_error_t()
    let flags = Int(flags | JSON_DECODE_ANY)
    let parsed = text.withMemoryRebound(to: CChar.self) { json_loadb($0.baseAddress, $0.count, flags, &error) }
    guard let parsed else {
      let message = withUnsafeBytes(of: error.text) { readable(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)) }
      let jansson = json_error_code(&error)
      let code: JSONError.Code =
        switch jansson {
        case _ where text.allSatisfy(" \t\r\n".utf8.contains): .empty
        case json_error_premature_end_of_input: .incomplete
        case json_error_invalid_utf8: .encoding
        case json_error_stack_overflow: .tooDeep
        case json_error_duplicate_key: .duplicateKey
        case json_error_numeric_overflow: .numberTooLarge
        case json_error_end_of_input_expected: .trailingText
        default: .syntax
        }
      // Other messages are about the inside of a string, or about a colon.
      if jansson == json_error_invalid_syntax,
        ["token", "]' expected", "}' expected"].contains(where: message.hasSuffix),
        let mistake = CommonMistake(
          Slice(base: text, bounds: 0..<min(text.count, max(0, Int(error.position)))),
          isInArray: message.hasSuffix("]' expected"))
      {
        throw JSONError(.syntax, mistake.message, at: mistake.location(in: text, line: line))
      }
      throw JSONError(
        code,
        code == .empty
          ? "the text is empty"
          : code == .numberTooLarge
            ? Self.numberTooLarge
            : code == .encoding
              ? "\(message): the text must be UTF-8"
              : code == .trailingText
                ? "the JSON value has ended before this" : code == .incomplete ? Self.incomplete : message,
        at: .line(line + max(0, Int(error.line) - 1), column: max(1, Int(error.column))))
    }
    return parsed
  }

  deinit { cjansson_decref(root) }

  private static let incomplete = "the text ends too early: a value, a quotation mark or a closing bracket is missing"

  /// Larger integers would be rounded silently.
  private static let numberTooLarge =
    "whole numbers go from \(Int.min) to \(Int.max), others to 1.8e308; write a larger one as a string"

  /// A message of jansson without parts for its callers, and without the text near the error, which may be a secret: the column
  /// shows where it is.
  private static func readable(_ message: String) -> String {
    message.replacing(" without JSON_ALLOW_NUL", with: "").replacing(/\ near '.*/.dotMatchesNewlines(), with: "")
  }

  /// The value, deeply converted.
  /// - Throws: `JSONError` with code `tooDeep` or `tooManyMarks`, and the key path.
  package func value() throws(JSONError) -> JSONValue {
    if let value = Self.convert(root, depth: 0) { return value }
    let (code, path) = Self.refused(in: root, at: []) ?? (.tooDeep, [])
    let message =
      code == .tooDeep ? "the depth limit is \(Self.depthLimit) arrays and objects" : String.tooManyMarksMessage
    throw JSONError(code, message, at: .keyPath(path))
  }

  /// - Returns: nil for a value that is nested too deeply, or has a text with too many marks.
  private static func convert(_ node: UnsafeMutablePointer<json_t>, depth: Int) -> JSONValue? {
    switch node.pointee.type {
    case JSON_OBJECT: return depth < depthLimit ? object(node, depth: depth + 1) : nil
    case JSON_ARRAY: return depth < depthLimit ? array(node, depth: depth + 1) : nil
    case JSON_STRING:
      let text = text(node)
      return text.hasTooManyMarks ? nil : .string(text)
    case JSON_INTEGER: return .integer(Int(json_integer_value(node)))
    case JSON_REAL: return .number(json_real_value(node))
    case JSON_TRUE: return .bool(true)
    case JSON_FALSE: return .bool(false)
    default: return .null
    }
  }

  private static func text(_ node: UnsafeMutablePointer<json_t>) -> String {
    let bytes = UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node))
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func object(_ node: UnsafeMutablePointer<json_t>, depth: Int) -> JSONValue? {
    var members: [JSONValue.Member] = []
    members.reserveCapacity(json_object_size(node))
    var iterator = json_object_iter(node)
    while let current = iterator, let key = json_object_iter_key(current), let value = json_object_iter_value(current) {
      let key = String(cString: key)
      guard !key.hasTooManyMarks, let converted = convert(value, depth: depth) else { return nil }
      members.append(JSONValue.Member(key, converted))
      iterator = json_object_iter_next(node, current)
    }
    return .object(members)
  }

  private static func array(_ node: UnsafeMutablePointer<json_t>, depth: Int) -> JSONValue? {
    var values: [JSONValue] = []
    values.reserveCapacity(json_array_size(node))
    for position in 0..<json_array_size(node) {
      guard let element = json_array_get(node, position) else { break }
      guard let converted = convert(element, depth: depth) else { return nil }
      values.append(converted)
    }
    return .array(values)
  }

  /// The path of the first array or object that is nested too deeply, or of the first text with too many marks; for a key, that of
  /// its object.
  private static func refused(
    in node: UnsafeMutablePointer<json_t>, at path: [String]
  ) -> (code: JSONError.Code, path: [String])? {
    if node.pointee.type == JSON_STRING { return text(node).hasTooManyMarks ? (.tooManyMarks, path) : nil }
    guard node.pointee.type == JSON_OBJECT || node.pointee.type == JSON_ARRAY else { return nil }
    guard path.count < depthLimit else { return (.tooDeep, path) }
    for position in 0..<json_array_size(node) {
      if let element = json_array_get(node, position),
        let found = refused(in: element, at: path + ["[\(position)]"])
      {
        return found
      }
    }
    var iterator = json_object_iter(node)
    while let current = iterator, let key = json_object_iter_key(current), let value = json_object_iter_value(current) {
      let key = String(cString: key)
      if key.hasTooManyMarks { return (.tooManyMarks, path) }
      if let found = refused(in: value, at: path + [key]) { return found }
      iterator = json_object_iter_next(node, current)
    }
    return nil
  }
}

extension JSONValue {
  /// Parses a text with one JSON value; strings may contain U+0000.
  package init(parsing text: String) throws(JSONError) {
    var text = text
    let result = text.withUTF8 { bytes in
      Result { () throws(JSONError) in
        try JSONDocument(parsing: UnsafeRawBufferPointer(bytes), allowingNUL: true).value()
      }
    }
    self = try result.get()
  }
}

/// Why a text is not an acceptable JSON value.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Code: Sendable {
    case empty
    /// It violates the grammar (RFC 8259).
    case syntax
    /// It ends within a value.
    case incomplete
    /// Something follows the value.
    case trailingText
    case duplicateKey
    /// It is not UTF-8.
    case encoding
    /// Arrays and objects are nested deeper than `JSONDocument.depthLimit`.
    case tooDeep
    /// A number would be rounded.
    case numberTooLarge
    /// More combining marks follow each other than `String.markLimit`.
    case tooManyMarks
  }

  /// The location in the text.
  package enum Location: Sendable, Equatable {
    /// Both from 1; the column counts code points.
    case line(Int, column: Int)
    /// Keys, and positions like `[2]`, from the outside in.
    case keyPath([String])
  }

  package let code: Code
  package let message: String
  package let location: Location

  package init(_ code: Code, _ message: String, at location: Location) {
    self.code = code
    self.message = message
    self.location = location
  }

  package var description: String {
    switch location {
    case .line(let line, let column): "line \(line), column \(column): \(message)"
    case .keyPath(let path): "\(path.joined(separator: ".").replacing(".[", with: "[")): \(message)"
    }
  }
}
