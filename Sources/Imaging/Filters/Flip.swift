/// `flip()`: exchanges top and bottom.
struct Flip: FilterFunction {
  static let name = "flip"
  static let syntax = ""
  static let defaultArgument: String? = nil
  static let summary = "exchanges top and bottom"

  init(arguments: inout ArgumentReader) {}

  var argument: String { "" }

  var stage: any RowStage { Turn(orientation: .flipped) }
}
