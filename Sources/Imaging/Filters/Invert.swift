/// `invert(amount)`: towards the negative (Filter Effects Module Level 1 § 12.1.5: a transfer function with the table
/// amount, 1 − amount); 0 changes nothing, 1 is the negative.
struct Invert: AmountFilter {
  static let name = "invert"
  static let summary = "towards the negative; 0 changes nothing, 1 is the negative"

  let amount: Double

  var stage: any RowStage { LinearTransfer(slope: 1 - 2 * amount, intercept: amount) }
}
