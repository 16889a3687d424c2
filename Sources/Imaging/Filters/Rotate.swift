/// `rotate(angle)`: rotates clockwise by a multiple of 90 degrees.
struct Rotate: FilterFunction {
  static let name = "rotate"
  static let syntax = "90 | 180 | 270"
  static let summary = "rotates clockwise by this many degrees"

  /// 90, 180 or 270.
  let degrees: Int

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    degrees = try arguments.integer("an angle", among: [90, 180, 270])
  }

  var argument: String { "\(degrees)" }

  var stage: any RowStage {
    Reorient(orientation: degrees == 90 ? .rotate90 : degrees == 180 ? .rotate180 : .rotate270)
  }
}
