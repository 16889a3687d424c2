/// `grayscale(amount)`: towards luminance (Filter Effects Module Level 1 § 12.1.1); 0 changes nothing, 1 gives grey.
struct Grayscale: AmountFilter {
  static let name = "grayscale"
  static let summary = "towards grey of the same luminance; 0 changes nothing, 1 is all grey"

  let amount: Double

  var stage: any RowStage {
    let rest = 1 - amount
    return ColourMatrix(
      red: [0.2126 + 0.7874 * rest, 0.7152 - 0.7152 * rest, 0.0722 - 0.0722 * rest],
      green: [0.2126 - 0.2126 * rest, 0.7152 + 0.2848 * rest, 0.0722 - 0.0722 * rest],
      blue: [0.2126 - 0.2126 * rest, 0.7152 - 0.7152 * rest, 0.0722 + 0.9278 * rest])
  }
}
