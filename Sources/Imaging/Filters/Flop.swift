/// `flop()`: exchanges left and right.
struct Flop: FilterFunction {
  static let name = "flop"
  static let syntax = ""
  static let defaultArgument: String? = nil
  static let summary = "exchanges left and right"

  init(arguments: inout ArgumentReader) {}

  var argument: String { "" }

  var stage: any RowStage { Turn(orientation: .mirrored) }
}
