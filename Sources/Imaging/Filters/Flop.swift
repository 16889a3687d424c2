/// `flop()`: flips horizontally.
struct Flop: FilterFunction {
  static let name = "flop"
  static let syntax = ""
  static let defaultArgument: String? = nil
  static let summary = "flips horizontally"

  init(arguments: inout ArgumentReader) {}

  var argument: String { "" }

  var stage: any RowStage { Reorient(orientation: .flipHorizontal) }
}
