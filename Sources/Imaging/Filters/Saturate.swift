/// `saturate(amount)`: more or less colour (Filter Effects Module Level 1 § 12.1.3); 0 is grey, 1 changes nothing.
struct Saturate: AmountFilter {
  static let name = "saturate"
  static let summary = "less colour below 1, more above; 0 is all grey, 1 changes nothing"
  static let ceiling = 1e6

  let amount: Double

  var stage: any RowStage {
    ColourMatrix(
      red: [0.213 + 0.787 * amount, 0.715 - 0.715 * amount, 0.072 - 0.072 * amount],
      green: [0.213 - 0.213 * amount, 0.715 + 0.285 * amount, 0.072 - 0.072 * amount],
      blue: [0.213 - 0.213 * amount, 0.715 - 0.715 * amount, 0.072 + 0.928 * amount])
  }
}
