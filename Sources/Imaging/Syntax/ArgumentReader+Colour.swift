extension ArgumentReader {
  /// Reads a colour if one is next: a name, `#` and digits, `rgb()`, `rgba()`, `hsl()` or `hsla()` in their notations with
  /// and without commas (CSS Color Module Level 4 § 4 to 7); nil otherwise.
  mutating func colour() throws(RecipeError) -> CSSColour? {
    guard let token = peek else { return nil }
    switch token.kind {
    case .hash(let digits):
      skip()
      if let colour = CSSColour(hexadecimal: digits) { return colour }
      throw RecipeError("a colour has 3, 4, 6 or 8 hexadecimal digits, found \(token.text)", at: token.offset)
    case .identifier(let name):
      skip()
      if let colour = CSSColour(named: name.lowercased()) { return colour }
      throw RecipeError("there is no colour \(token.text)", at: token.offset)
    case .function(let name) where ["rgb", "rgba", "hsl", "hsla"].contains(name.lowercased()):
      skip()
      return try components(of: name.lowercased())
    default: return nil
    }
  }

  mutating func requiredColour() throws(RecipeError) -> CSSColour {
    if let colour = try colour() { return colour }
    throw missing("a colour, such as white or #ff8800")
  }

  private mutating func components(of function: String) throws(RecipeError) -> CSSColour {
    let isHue = function.hasPrefix("hsl")
    let first = try component(of: function, isHue: isHue)
    let hasCommas = take(.comma)
    let second = try component(of: function)
    if hasCommas { try expect(.comma, ",", in: function) }
    let third = try component(of: function)
    let alpha = take(hasCommas ? .comma : .delimiter("/")) ? try component(of: function) : ColourComponent(number: 1)
    try expect(.rightParenthesis, ")", in: function)
    if isHue {
      return CSSColour(
        hue: first.value, saturation: second.value / 100, lightness: third.value / 100, alpha: alpha.fraction(of: 1))
    }
    return CSSColour(
      first.fraction(of: 255), second.fraction(of: 255), third.fraction(of: 255), alpha: alpha.fraction(of: 1))
  }

  /// Reads a number or a percentage, or `none` for 0; for a hue an angle in degrees.
  private mutating func component(of function: String, isHue: Bool = false) throws(RecipeError) -> ColourComponent {
    guard let token = peek, token.kind != .rightParenthesis else {
      throw RecipeError("\(function)() is not complete", at: peek?.offset ?? end)
    }
    if isHue, case .dimension = token.kind { return ColourComponent(number: try angle(default: 0)) }
    skip()
    switch token.kind {
    case .number(let value): return ColourComponent(number: value)
    case .percentage(let value) where !isHue: return ColourComponent(percentage: value)
    case .identifier(let name) where name.lowercased() == "none": return ColourComponent(number: 0)
    default:
      throw RecipeError("\(function)() takes a number or a percentage here, found \(token.text)", at: token.offset)
    }
  }

  private mutating func expect(_ kind: CSSToken.Kind, _ text: String, in function: String) throws(RecipeError) {
    if take(kind) { return }
    throw RecipeError("\(function)() expects \(text), found \(peek?.text ?? ")")", at: peek?.offset ?? end)
  }
}

/// A component of a colour as written.
private struct ColourComponent {
  /// The number, or the percentage without its sign.
  let value: Double
  private let isPercentage: Bool

  init(number: Double) { (value, isPercentage) = (number, false) }
  init(percentage: Double) { (value, isPercentage) = (percentage, true) }

  /// The component as a fraction; the number `whole` is 1.
  func fraction(of whole: Double) -> Double { value / (isPercentage ? 100 : whole) }
}
