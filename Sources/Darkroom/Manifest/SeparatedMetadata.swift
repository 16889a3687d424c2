/// The metadata of a row: the JSON of the column `metadata`, and the columns that are no fields, as strings.
struct SeparatedMetadata {
  private var given: (value: JSONValue, place: ManifestProblem.Place)?
  private var others: [JSONValue.Member] = []

  private var unreadable: [ManifestProblem] = []

  /// Takes the cell of the column `metadata`.
  mutating func read(_ cell: SeparatedRows.Cell) {
    do throws(ManifestProblem) {
      given = (try cell.json(of: "metadata"), cell.place)
    } catch {
      unreadable.append(error)
    }
  }

  /// Takes the cell of a column that is no field.
  mutating func add(_ name: String, _ cell: SeparatedRows.Cell) {
    others.append(.init(name, .string(cell.text)))
  }

  var problems: [ManifestProblem] {
    guard let given, !others.isEmpty else { return unreadable }
    guard case .object(let members) = given.value else {
      let message = "\"metadata\" must be an object, not \(given.value.kind): other columns are added to it"
      return unreadable + [ManifestProblem(.wrongType, message, at: given.place)]
    }
    let keys = Set(members.map(\.key))
    return unreadable
      + others.filter { keys.contains($0.key) }.map {
        ManifestProblem(.badValue, "\"metadata\" has the key \"\($0.key)\", which is a column too", at: given.place)
      }
  }

  /// Nil when there is none.
  var value: JSONValue? {
    guard let given else { return others.isEmpty ? nil : .object(others) }
    guard case .object(let members) = given.value else { return given.value }
    return .object(members + others)
  }
}
