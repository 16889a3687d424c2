import JSON
import Manifests
import System
import Transfer

/// The fields of an entry, or of an envelope's `defaults`, that define its request.
package struct RequestFields: Sendable, Equatable {
  static let names = ["method", "headers", "body", "form"]

  /// The fields that contain secrets.
  package static let secret = ["headers", "body", "form"]

  private var method: SourceRequest.Method?
  private var headers: [HeaderField]?
  private var content: SourceRequest.Content?

  package init() {}

  /// An invalid field. The message contains no values, which may be secrets.
  package struct Problem: Error {
    package let code: ManifestProblem.Code
    package let field: String
    package let message: String
  }

  /// Reads the fields of an object.
  /// - Throws: `Problem` for the first invalid field.
  package init(_ members: [JSONValue.Member]) throws(Problem) {
    do {
      for member in members {
        switch member.key {
        case "method": method = try Self.method(member.value)
        case "headers": headers = try Self.headers(member.value)
        case "body", "form":
          guard content == nil else {
            throw Problem(code: .badValue, field: member.key, message: "an entry has a body or a form, not both")
          }
          content =
            try member.key == "body"
            ? .body(Self.string(member.value, field: "body", "\"body\"")) : Self.form(member.value)
        default: break
        }
      }
    } catch let problem as Problem {
      throw problem
    } catch let error as SourceRequest.ParseError {
      throw Problem(error)
    } catch {
      throw Problem(code: .badValue, field: "method", message: "\(error)")
    }
  }

  /// The request that the fields define.
  ///
  /// Missing fields come from the defaults: the headers as a whole, and body or form unless the method is set to GET.
  /// The default method is GET without a body or form, and POST with one.
  package func request(defaults: RequestFields) throws(Problem) -> SourceRequest {
    let content = content ?? (method == .get ? nil : defaults.content)
    let method = method ?? defaults.method ?? (content == nil ? .get : .post)
    do throws(SourceRequest.ParseError) {
      return try SourceRequest(method: method, headers: headers ?? defaults.headers ?? [], content: content)
    } catch {
      throw Problem(error)
    }
  }

  // MARK: The fields

  private static func method(_ value: JSONValue) throws -> SourceRequest.Method {
    let text = try string(value, field: "method", "\"method\"")
    guard let method = SourceRequest.Method(rawValue: text) else {
      let known = SourceRequest.Method.allCases.map(\.rawValue)
      throw Problem(code: .badValue, field: "method", message: NearestName.unknown("method", text, among: known))
    }
    return method
  }

  private static func headers(_ value: JSONValue) throws -> [HeaderField] {
    guard case .object(let members) = value else {
      throw Problem(
        code: .wrongType, field: "headers",
        message: "\"headers\" must be an object of names and values, not \(value.kind)")
    }
    return try members.flatMap { member in
      let values = if case .array(let values) = member.value { values } else { [member.value] }
      // An invalid name may be a value by mistake: the message does not contain it.
      _ = try HeaderField(member.key, "")
      return try values.map {
        try HeaderField(member.key, string($0, field: "headers", "the value of the header \"\(member.key)\""))
      }
    }
  }

  private static func form(_ value: JSONValue) throws -> SourceRequest.Content {
    guard case .object(let members) = value else {
      throw Problem(
        code: .wrongType, field: "form", message: "\"form\" must be an object of names and contents, not \(value.kind)")
    }
    return .form(try members.map { try part($0.key, $0.value) })
  }

  private static func part(_ name: String, _ value: JSONValue) throws -> FormPart {
    guard case .object(let members) = value else {
      return try FormPart(name: name, content: .text(string(value, field: "form", "the content of \"\(name)\"")))
    }
    var found: [String: String] = [:]
    for member in members where !member.key.hasPrefix("_") {
      guard partFields.contains(member.key) else {
        let message = NearestName.unknown("field of \"\(name)\"", member.key, among: partFields)
        throw Problem(code: .unknownField, field: "form", message: message)
      }
      found[member.key] = try string(member.value, field: "form", "the \(member.key) of \"\(name)\"")
    }
    let content: FormPart.Content
    switch (found["content"], found["file"]) {
    case (let text?, nil): content = .text(text)
    case (nil, let path?): content = .file(try file(path, of: name))
    default:
      throw Problem(code: .badValue, field: "form", message: "\"\(name)\" needs either a \"content\" or a \"file\"")
    }
    return try FormPart(name: name, content: content, filename: found["filename"], type: found["type"])
  }

  private static let partFields = ["content", "file", "filename", "type"]

  private static func file(_ path: String, of name: String) throws(Problem) -> SourceLocation {
    if let location = try? SourceLocation(parsing: path), location.scheme == .file { return location }
    let message = "the file of \"\(name)\" must be a path beneath --file-root, or a file: URL with an absolute one"
    throw Problem(code: .badValue, field: "form", message: message)
  }

  private static func string(_ value: JSONValue, field: String, _ what: String) throws(Problem) -> String {
    if case .string(let text) = value {
      guard text.utf8.contains(0) else { return text }
      throw Problem(code: .badValue, field: field, message: "\(what) holds U+0000")
    }
    throw Problem(code: .wrongType, field: field, message: "\(what) must be a string, not \(value.kind)")
  }
}

extension RequestFields.Problem {
  fileprivate init(_ error: SourceRequest.ParseError) {
    self.init(code: .badValue, field: error.field, message: error.message)
  }
}
