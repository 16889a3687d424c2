/// `contrast(amount)`: away from or towards middle grey (Filter Effects Module Level 1 § 12.1.8: a linear transfer
/// function with the slope amount and the intercept 0.5 − 0.5 · amount); 0 is all grey, 1 changes nothing.
struct Contrast: FilterFunction {
  static let name = "contrast"
  static let syntax = amountSyntax
  static let defaultArgument: String? = "1"
  static let summary = "less contrast below 1, more above; 0 is all grey, 1 changes nothing"

  /// 0 and above.
  let amount: Double

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    amount = try arguments.amount(default: 1)
  }

  var argument: String { amount.cssText }

  var stage: any RowStage { LinearTransfer(slope: amount, intercept: 0.5 - 0.5 * amount) }
}
