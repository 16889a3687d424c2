/// `brightness(amount)`: multiplies colours (Filter Effects Module Level 1 § 12.1.7: a linear transfer function with
/// the slope amount); 0 is black, 1 changes nothing.
struct Brightness: FilterFunction {
  static let name = "brightness"
  static let syntax = amountSyntax
  static let defaultArgument: String? = "1"
  static let summary = "darker below 1, brighter above; 0 is black, 1 changes nothing"

  /// 0 and above.
  let amount: Double

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    amount = try arguments.amount(default: 1)
  }

  var argument: String { amount.cssText }

  var stage: any RowStage { LinearTransfer(slope: amount, intercept: 0) }
}
