/// `flop()`: flips horizontally.
struct Flop: FilterFunction {
  static let name = "flop"
  static let summary = "flips horizontally"

  init(arguments: inout ArgumentReader) {}

  var stage: any RowStage { Reorient(orientation: .flipHorizontal) }
}
