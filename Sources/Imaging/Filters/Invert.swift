/// `invert(amount)`: towards the negative (Filter Effects Module Level 1 § 12.1.5: a transfer function with the table
/// amount, 1 − amount); 0 changes nothing, 1 is the negative.
struct Invert: FilterFunction {
  static let name = "invert"
  static let syntax = amountSyntax
  static let defaultArgument: String? = "1"
  static let summary = "towards the negative; 0 changes nothing, 1 is the negative"

  /// 0…1.
  let amount: Double

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    amount = try arguments.amount(default: 1, ceiling: 1)
  }

  var argument: String { amount.cssText }

  var stage: any RowStage { LinearTransfer(slope: 1 - 2 * amount, intercept: amount) }
}
