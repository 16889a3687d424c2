import JSON
import System

/// The fields of an entry, for formats without typed values: tables, whose cells are text, and lists, whose option lines have
/// their own names.
package struct FieldVocabulary: Sendable {
  /// How a table's cell is converted to a value.
  package enum CellKind: Sendable {
    case text
    case number
    case json
    /// A JSON array, or else a string.
    case textOrArray
    /// JSON; columns that are not fields are added to it as strings.
    case extras
  }

  /// An option line of a list.
  package struct Option: Sendable {
    /// As written, such as `out`.
    package let name: String

    /// The field that it sets.
    package let field: String

    /// nil when an entry can have the option once. Otherwise the field is an object to which each line adds members, several
    /// under one key as an array; members beyond this many bytes are partly dropped, because the caller rejects so many.
    package let memberLimit: Int?

    /// Reads the text after `NAME=`: the field's value, or, with a `memberLimit`, an object of members.
    package let read: @Sendable (String) throws(ParseError) -> JSONValue

    package init(
      _ name: String, field: String, memberLimit: Int? = nil,
      read: @escaping @Sendable (String) throws(ParseError) -> JSONValue
    ) {
      self.name = name
      self.field = field
      self.memberLimit = memberLimit
      self.read = read
    }
  }

  /// The field that every entry has; an entry that is a string is its value.
  package let principal: String

  /// The name of the principal field's value in messages, such as `URL`.
  package let principalTitle: String

  /// Parts of the names, in lower case, that columns with such values have in other programs' tables.
  package let principalHints: [String]

  /// The field that names an entry.
  package let title: String

  /// The names, in lower case, that the column of an entry's name has in other programs' tables and other languages.
  package let titleHints: Set<String>

  /// The fields by name, including the principal one, with the kind of their cells.
  package let cells: [String: CellKind]

  /// The field of kind `extras`.
  package let extras: String

  /// The field whose default is added to entries that leave it out, as if it were written there.
  package let expanded: String?

  /// In the order of their fields after the principal one.
  package let options: [Option]

  /// The fields that are allowed beside `source`, in a manifest that refers to a list elsewhere.
  package let sourceFields: Set<String>

  /// The fields that are allowed in `defaults`.
  package let defaultsFields: Set<String>

  package init(
    principal: String, principalTitle: String, principalHints: [String] = [], title: String = "name",
    titleHints: Set<String> = [], cells: [String: CellKind], extras: String, expanded: String? = nil, options: [Option],
    sourceFields: Set<String> = [], defaultsFields: Set<String> = []
  ) {
    self.sourceFields = sourceFields
    self.defaultsFields = defaultsFields
    self.principal = principal
    self.principalTitle = principalTitle
    self.principalHints = principalHints
    self.title = title
    self.titleHints = titleHints
    self.cells = cells
    self.extras = extras
    self.expanded = expanded
    self.options = options
  }
}

/// Names of fields are compared without case.
extension FieldVocabulary {
  /// The field with a name, in any case; nil when there is none.
  func field(_ name: String) -> String? {
    if cells[name] != nil { return name }
    let field = name.lowercased()
    return cells[field] == nil ? nil : field
  }

  /// An object of fields with their canonical names. When a field occurs in several cases, one gets the canonical name; the
  /// others do not change.
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
