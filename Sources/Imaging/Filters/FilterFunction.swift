/// A function that recipes may call. A filter is one file with one conforming type, and one line in `FilterRegistry`.
package protocol FilterFunction: Sendable {
  /// The name, in lower case: `hue-rotate`.
  static var name: String { get }
  /// Other names with the same meaning; none by default.
  static var aliases: [String] { get }
  /// What is between the parentheses, in CSS value definition syntax: `[<number> | <percentage>]?`.
  static var syntax: String { get }
  /// The argument when none is given, as text; nil when there must be one, or never is.
  static var defaultArgument: String? { get }
  /// What it does, in one line.
  static var summary: String { get }

  /// Takes the arguments; what it leaves is refused.
  init(arguments: inout ArgumentReader) throws(RecipeError)

  /// The argument in canonical form.
  var argument: String { get }
  /// Whether grey pictures can become coloured by it; if not, they keep a single channel. False by default.
  var coloursGrey: Bool { get }
  /// Whether an opaque picture needs an alpha channel afterwards; false by default.
  var makesTranslucent: Bool { get }
  /// What is done to rows.
  var stage: any RowStage { get }
}

extension FilterFunction {
  package static var aliases: [String] { [] }
  package var coloursGrey: Bool { false }
  package var makesTranslucent: Bool { false }
}

/// The syntax of most functions.
let amountSyntax = "[<number> | <percentage>]?"
