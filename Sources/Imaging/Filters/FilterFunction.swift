/// A function that recipes may call. A filter is one file with one conforming type, and one line in `FilterRegistry`.
package protocol FilterFunction: Sendable {
  /// The name, in lower case: `hue-rotate`.
  static var name: String { get }
  /// Other names with the same meaning; none by default.
  static var aliases: [String] { get }
  /// What is between the parentheses, in CSS value definition syntax: `[<number> | <percentage>]?`. Nothing by default.
  static var syntax: String { get }
  /// The default argument as text; nil, by default, when arguments are required or the function takes none.
  static var defaultArgument: String? { get }
  /// The effect, in one line.
  static var summary: String { get }

  /// Reads the arguments; unread ones are errors.
  init(arguments: inout ArgumentReader) throws(RecipeError)

  /// The arguments in canonical form. None by default.
  var argument: String { get }
  /// Whether grey pictures can become coloured; if not, they keep a single channel. False by default.
  var coloursGrey: Bool { get }
  /// Whether opaque pictures need an alpha channel afterwards; false by default.
  var makesTranslucent: Bool { get }
  /// Whether translucent pictures are opaque afterwards; false by default.
  var makesOpaque: Bool { get }
  /// Whether opaque pictures certainly remain so. By default where pixels are moved, resampled, or changed one by one.
  var keepsOpaque: Bool { get }
  /// The stage that does the work.
  var stage: any RowStage { get }
}

extension FilterFunction {
  package static var aliases: [String] { [] }
  package static var syntax: String { "" }
  package static var defaultArgument: String? { nil }
  package var argument: String { "" }
  package var coloursGrey: Bool { false }
  package var makesTranslucent: Bool { false }
  package var makesOpaque: Bool { false }
  package var keepsOpaque: Bool {
    let stage = stage
    return !makesTranslucent && (stage.movesPixelsOnly || stage.affine != nil || stage.resampling != nil)
  }
}

/// A function of one amount, a number or a percentage; 1 without an argument.
protocol AmountFilter: FilterFunction {
  /// The largest amount, to which larger ones are clamped. Default: 1.
  static var ceiling: Double { get }

  /// From 0 to `ceiling`.
  var amount: Double { get }

  init(amount: Double)
}

extension AmountFilter {
  static var syntax: String { "[<number> | <percentage>]?" }
  static var defaultArgument: String? { "1" }
  static var ceiling: Double { 1 }
  var argument: String { amount.cssText }

  init(arguments: inout ArgumentReader) throws(RecipeError) {
    self.init(amount: try arguments.amount(default: 1, ceiling: Self.ceiling))
  }
}
