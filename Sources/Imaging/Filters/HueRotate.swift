import Foundation

/// `hue-rotate(angle)`: rotates hues (Filter Effects Module Level 1 § 12.1.4).
struct HueRotate: FilterFunction {
  static let name = "hue-rotate"
  static let syntax = "[<angle> | <zero>]?"
  static let defaultArgument: String? = "0deg"
  static let summary = "rotates all hues around the colour circle; angles in deg, grad, rad or turn"

  /// Degrees; any.
  let degrees: Double

  init(arguments: inout ArgumentReader) throws(RecipeError) { degrees = try arguments.angle(default: 0) }

  var argument: String { degrees.cssText + "deg" }

  var stage: any RowStage {
    let radians = degrees.truncatingRemainder(dividingBy: 360) * .pi / 180
    let (c, s) = (cos(radians), sin(radians))
    return ColourMatrix(
      red: [0.213 + c * 0.787 - s * 0.213, 0.715 - c * 0.715 - s * 0.715, 0.072 - c * 0.072 + s * 0.928],
      green: [0.213 - c * 0.213 + s * 0.143, 0.715 + c * 0.285 + s * 0.140, 0.072 - c * 0.072 - s * 0.283],
      blue: [0.213 - c * 0.213 - s * 0.787, 0.715 - c * 0.715 + s * 0.715, 0.072 + c * 0.928 + s * 0.072])
  }
}
