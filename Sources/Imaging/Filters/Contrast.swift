/// `contrast(amount)`: away from or towards middle grey (Filter Effects Module Level 1 § 12.1.8: a linear transfer
/// function with the slope amount and the intercept 0.5 − 0.5 · amount); 0 is all grey, 1 changes nothing.
struct Contrast: AmountFilter {
  static let name = "contrast"
  static let summary = "less contrast below 1, more above; 0 is all grey, 1 changes nothing"
  static let ceiling = 1e6

  let amount: Double

  var stage: any RowStage { LinearTransfer(slope: amount, intercept: 0.5 - 0.5 * amount) }
}
