/// How much a stage holds of its picture at once.
package enum RowWindow: Equatable {
  /// A row, which is changed in place.
  case row
  /// So many rows at most, those that it is about to make included.
  case rows(Int)
  /// All of it.
  case picture

  /// In words, for `--explain`; empty for a single row.
  var words: String {
    switch self {
    case .row: ""
    case .rows(let count): "; holds \(count) rows"
    case .picture: "; holds the whole picture"
    }
  }
}
