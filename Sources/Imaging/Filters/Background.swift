/// `background(colour)`: draws the picture on a colour, where it is translucent.
struct Background: FilterFunction, RowFilter {
  static let name = "background"
  static let syntax = "<color>"
  static let summary = "draws a translucent picture on this colour"

  let colour: CSSColour

  init(arguments: inout ArgumentReader) throws(RecipeError) { colour = try arguments.requiredColour() }

  var argument: String { "\(colour)" }
  var coloursGrey: Bool { !colour.isGrey }
  var makesOpaque: Bool { colour.isOpaque }
  var stage: any RowStage { self }

  /// Source over (Compositing and Blending Level 1 § 9.1.4), in sRGB values as browsers do.
  func apply(to row: PixelRow) {
    guard row.layout.hasAlpha else { return }
    for index in 0..<row.vectors {
      let alpha = row.alpha[index]
      let beneath = (1 - alpha) * colour.alpha
      let sum = alpha + beneath
      // Where nothing is visible colours are 0.
      let divisor = sum.replacing(with: 1, where: sum .<= 0)
      row.red[index] = ((row.red[index] * alpha + beneath * colour.red) / divisor).clampedToUnit
      if !row.layout.isGrey {
        row.green[index] = ((row.green[index] * alpha + beneath * colour.green) / divisor).clampedToUnit
        row.blue[index] = ((row.blue[index] * alpha + beneath * colour.blue) / divisor).clampedToUnit
      }
      row.alpha[index] = sum.clampedToUnit
    }
  }
}
