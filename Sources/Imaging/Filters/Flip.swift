/// `flip()`: flips vertically.
struct Flip: FilterFunction {
  static let name = "flip"
  static let summary = "flips vertically"

  init(arguments: inout ArgumentReader) {}

  var stage: any RowStage { Reorient(orientation: .flipVertical) }
}
