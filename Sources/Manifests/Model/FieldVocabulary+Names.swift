import JSON

/// Names of fields are compared without case.
extension FieldVocabulary {
  /// The field that a name means, in any case; nil when there is none.
  func field(_ name: String) -> String? {
    if cells[name] != nil { return name }
    let field = name.lowercased()
    return cells[field] == nil ? nil : field
  }

  /// An object of fields, their names as they are here. A field that occurs in several cases has its name once; the others
  /// stay as they are.
  package func canonical(_ value: JSONValue) -> JSONValue {
    guard case .object(let members) = value, members.contains(where: { Self.hasCapital($0.key) }) else { return value }
    var taken = Set(members.map(\.key))
    return .object(
      members.map { member in
        guard Self.hasCapital(member.key), let field = field(member.key), taken.insert(field).inserted else {
          return member
        }
        return JSONValue.Member(field, member.value)
      })
  }

  /// The principal field of an object, whatever its case; nil when there is none or this is no object.
  func principalValue(of value: JSONValue?) -> JSONValue? {
    guard case .object(let members)? = value else { return nil }
    return members.first { isPrincipal($0.key) }?.value
  }

  func isPrincipal(_ name: String) -> Bool {
    name == principal || name.utf8.count == principal.utf8.count && name.lowercased() == principal
  }

  private static func hasCapital(_ name: String) -> Bool {
    name.utf8.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
  }
}
