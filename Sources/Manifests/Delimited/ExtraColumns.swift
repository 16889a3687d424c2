import JSON

/// The field of a row that holds what has no field: the JSON of its own column, and the columns that are no fields, as
/// strings.
struct ExtraColumns {
  /// The field's name.
  private let field: String

  private var given: (value: JSONValue, place: ManifestProblem.Place)?
  private var others: [JSONValue.Member] = []

  private var unreadable: [ManifestProblem] = []

  init(field: String) { self.field = field }

  /// Takes the cell of the field's own column.
  mutating func read(_ cell: DelimitedRows.Cell) {
    do throws(ManifestProblem) {
      given = (try cell.json(of: field), cell.place)
    } catch {
      unreadable.append(error)
    }
  }

  /// Takes the cell of a column that is no field.
  mutating func add(_ name: String, _ cell: DelimitedRows.Cell) {
    others.append(.init(name, .string(cell.text)))
  }

  var problems: [ManifestProblem] {
    guard let given, !others.isEmpty else { return unreadable }
    guard case .object(let members) = given.value else {
      let message = "\"\(field)\" must be an object, not \(given.value.kind): other columns are added to it"
      return unreadable + [ManifestProblem(.wrongType, message, at: given.place)]
    }
    let keys = Set(members.map(\.key))
    return unreadable
      + others.filter { keys.contains($0.key) }.map {
        ManifestProblem(.badValue, "\"\(field)\" has the key \"\($0.key)\", which is a column too", at: given.place)
      }
  }

  /// Nil when there is none.
  var value: JSONValue? {
    guard let given else { return others.isEmpty ? nil : .object(others) }
    guard case .object(let members) = given.value else { return given.value }
    return .object(members + others)
  }
}
