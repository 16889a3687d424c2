/// `sepia(amount)`: towards brown tones (Filter Effects Module Level 1 § 12.1.2); 0 changes nothing, 1 is all sepia.
/// `CISepiaTone(intensity)`, the name of Core Image, means the same.
struct Sepia: AmountFilter {
  static let name = "sepia"
  static let aliases = ["CISepiaTone"]
  static let summary = "towards brown tones; 0 changes nothing, 1 is all sepia"
  let coloursGrey = true

  let amount: Double

  var stage: any RowStage {
    let rest = 1 - amount
    return ColourMatrix(
      red: [0.393 + 0.607 * rest, 0.769 - 0.769 * rest, 0.189 - 0.189 * rest],
      green: [0.349 - 0.349 * rest, 0.686 + 0.314 * rest, 0.168 - 0.168 * rest],
      blue: [0.272 - 0.272 * rest, 0.534 - 0.534 * rest, 0.131 + 0.869 * rest])
  }
}
