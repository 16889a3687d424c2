/// `brightness(amount)`: multiplies colours (Filter Effects Module Level 1 § 12.1.7: a linear transfer function with
/// the slope amount); 0 is black, 1 changes nothing.
struct Brightness: AmountFilter {
  static let name = "brightness"
  static let summary = "darker below 1, brighter above; 0 is black, 1 changes nothing"
  static let ceiling = 1e6

  let amount: Double

  var stage: any RowStage { LinearTransfer(slope: amount, intercept: 0) }
}
