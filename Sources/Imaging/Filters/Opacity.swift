/// `opacity(amount)`: multiplies alpha (Filter Effects Module Level 1 § 12.1.6); 0 is transparent, 1 changes nothing.
struct Opacity: FilterFunction {
  static let name = "opacity"
  static let syntax = amountSyntax
  static let defaultArgument: String? = "1"
  static let summary = "makes translucent; 0 is transparent, 1 changes nothing"

  /// 0…1.
  let amount: Double

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    amount = try arguments.amount(default: 1, ceiling: 1)
  }

  var argument: String { amount.cssText }

  var makesTranslucent: Bool { amount < 1 }

  var stage: any RowStage { AlphaScale(factor: amount) }
}
