/// `flip()`: flips vertically.
struct Flip: FilterFunction {
  static let name = "flip"
  static let syntax = ""
  static let defaultArgument: String? = nil
  static let summary = "flips vertically"

  init(arguments: inout ArgumentReader) {}

  var argument: String { "" }

  var stage: any RowStage { Reorient(orientation: .flipVertical) }
}
