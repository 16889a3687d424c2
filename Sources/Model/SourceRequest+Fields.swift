import JSON
import Transfer

extension SourceRequest {
  /// The request as fields of an entry; empty for a plain GET.
  package var members: [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    if method != .get { members.append(.init("method", .string(method.rawValue))) }
    if !headers.isEmpty { members.append(.init("headers", .headers(headers))) }
    switch content {
    case .body(let text): members.append(.init("body", .string(text)))
    case .form(let parts): members.append(.init("form", .object(parts.map { .init($0.name, .part($0)) })))
    case nil: break
    }
    return members
  }
}

extension JSONValue {
  /// The field `headers`. A header that occurs more than once has an array of values.
  package static func headers(_ fields: [HeaderField]) -> JSONValue {
    .object(grouping: fields.map { Member($0.name, .string($0.value)) })
  }

  fileprivate static func part(_ part: FormPart) -> JSONValue {
    let (field, content): (String, String)
    switch part.content {
    case .text(let text) where part.filename == nil && part.type == nil: return .string(text)
    case .text(let text): (field, content) = ("content", text)
    case .file(let location): (field, content) = ("file", location.requestText)
    }
    return .object([
      field: .string(content), "filename": part.filename.map { .string($0) }, "type": part.type.map { .string($0) },
    ])
  }
}
