/// A JSON value. Objects keep their order.
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A key of an object and its value.
  package struct Member: Sendable, Equatable {
    package let key: String
    package let value: JSONValue

    package init(_ key: String, _ value: JSONValue) { (self.key, self.value) = (key, value) }
  }

  /// An object of the members that have a value.
  package static func object(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(Self.members(members))
  }

  /// The members that have a value.
  package static func members(_ members: KeyValuePairs<String, JSONValue?>) -> [Member] {
    var present: [Member] = []
    present.reserveCapacity(members.count)
    for case (let key, let value?) in members { present.append(Member(key, value)) }
    return present
  }

  /// The value of a key of an object; nil when there is none or this is not an object.
  package subscript(key: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// An object of members, in the order of their keys' first occurrence; several values of a key become an array.
  package static func object(grouping members: [Member]) -> JSONValue {
    var keys: [String] = []
    var values: [String: [JSONValue]] = [:]
    for member in members {
      if values[member.key] == nil { keys.append(member.key) }
      values[member.key, default: []].append(member.value)
    }
    return .object(
      keys.map { key in
        let values = values[key] ?? []
        return Member(key, values.count == 1 ? values[0] : .array(values))
      })
  }

  /// The text of a string; nil for other values.
  package var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The number of an integer; nil for other values.
  package var integer: Int? { if case .integer(let value) = self { value } else { nil } }

  /// The number of a number or an integer; nil for other values.
  package var number: Double? {
    switch self {
    case .number(let value): value
    case .integer(let value): Double(value)
    default: nil
    }
  }

  /// The value as written, for a message; its kind when it is long.
  package var shown: String {
    switch self {
    case .null, .bool, .integer, .number: text
    case .string(let value) where value.utf8.count <= 60: text
    case .string, .array, .object: kind
    }
  }

  /// The kind of the value, in words for a message.
  package var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}
