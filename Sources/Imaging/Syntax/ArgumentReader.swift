/// Reads the arguments of one filter function.
package struct ArgumentReader {
  private let function: String
  /// The offset of the closing parenthesis.
  let end: Int
  private var tokens: ArraySlice<CSSToken>

  /// Whether an integer was requested: then a comma is a separator, not a decimal point.
  private(set) var takesIntegers = false

  /// Creates a reader of the tokens between the parentheses. `end` is the offset of the closing one.
  init(function: String, end: Int, tokens: ArraySlice<CSSToken>) {
    self.function = function
    self.end = end
    self.tokens = tokens
  }

  /// Reads a number or percentage of at least 0, where 1 is 100 %; `standard` when there is none. Filter Effects Module
  /// Level 1 § 6.1: negative values are invalid, and some functions clamp values to `ceiling`. Numbers are clamped to a
  /// million (CSS lets implementations choose their range).
  mutating func amount(default standard: Double, ceiling: Double = 1e6) throws(RecipeError) -> Double {
    guard let token = tokens.popFirst() else { return standard }
    let value: Double
    switch token.kind {
    case .number(let number): value = number
    case .percentage(let number): value = number / 100
    default: throw unexpected(token, instead: "a number or a percentage")
    }
    guard value >= 0 else {
      throw RecipeError("\(function)() takes no negative amount: \(token.text)", at: token.offset)
    }
    // Adding 0 turns -0 into 0.
    return min(value, ceiling) + 0
  }

  /// Reads an angle in degrees: a number with `deg`, `grad`, `rad` or `turn` (CSS Values and Units Module Level 4 § 7.1), or 0
  /// without a unit; `standard` when there is none. Beyond ±1 000 000 degrees whole turns are left out.
  mutating func angle(default standard: Double) throws(RecipeError) -> Double {
    guard let token = tokens.popFirst() else { return standard }
    switch token.kind {
    case .number(0): return 0
    case .number:
      throw RecipeError("\(function)() needs a unit: \(token.text)deg", at: token.offset)
    case .dimension(let value, unit: "deg"): return Self.degrees(value, turn: 360) { $0 }
    case .dimension(let value, unit: "grad"): return Self.degrees(value, turn: 400) { $0 * 0.9 }
    case .dimension(let value, unit: "rad"): return Self.degrees(value, turn: 2 * .pi) { $0 * 180 / .pi }
    case .dimension(let value, unit: "turn"): return Self.degrees(value, turn: 1) { $0 * 360 }
    default: throw unexpected(token, instead: "an angle in deg, grad, rad or turn")
    }
  }

  /// An angle in degrees. The remainder is exact; those that need none are not changed.
  /// - Parameter turn: A whole turn, in the angle's unit.
  private static func degrees(_ value: Double, turn: Double, in degrees: (Double) -> Double) -> Double {
    // Infinity has no remainder.
    guard value.isFinite else { return 0 }
    let angle = degrees(value)
    return (abs(angle) <= 1e6 ? angle : degrees(value.truncatingRemainder(dividingBy: turn))) + 0
  }

  /// Reads a required whole number without a unit, within a range; `what` names it in errors.
  mutating func integer(_ what: String, in range: ClosedRange<Int>) throws(RecipeError) -> Int {
    takesIntegers = true
    let token = try next(what)
    guard case .number(let value) = token.kind, let number = Int(exactly: value) else {
      throw unexpected(token, instead: "\(what) as a whole number without a unit")
    }
    guard range.contains(number) else {
      throw RecipeError(
        "\(function)() takes \(what) of \(range.lowerBound) to \(range.upperBound), found \(token.text)",
        at: token.offset)
    }
    return number
  }

  /// Reads a required whole number without a unit, one of `numbers`; `what` names it in errors.
  mutating func integer(_ what: String, among numbers: [Int]) throws(RecipeError) -> Int {
    takesIntegers = true
    let known = numbers.map(String.init).joined(separator: ", ")
    let token = try next("\(what): one of \(known)")
    guard case .number(let value) = token.kind, let number = Int(exactly: value), numbers.contains(number) else {
      throw unexpected(token, instead: "one of \(known)")
    }
    return number
  }

  /// Reads a required number without a unit, within a range; `what` names it in errors.
  mutating func number(_ what: String, in range: ClosedRange<Double>) throws(RecipeError) -> Double {
    let token = try next(what)
    guard case .number(let value) = token.kind else {
      throw unexpected(token, instead: "\(what) as a number without a unit")
    }
    guard range.contains(value) else {
      throw RecipeError(
        "\(function)() takes \(what) of \(range.lowerBound.cssText) to \(range.upperBound.cssText), found \(token.text)",
        at: token.offset)
    }
    return value
  }

  /// Reads a required length in pixels, clamped to ±1 000 000; `what` names it in errors.
  mutating func length(_ what: String) throws(RecipeError) -> Double {
    let token = try next(what)
    let pixels: Double
    switch token.kind {
    case .number(0): pixels = 0
    case .number: throw RecipeError("\(function)() needs a unit: \(token.text)px", at: token.offset)
    case .dimension(let value, let unit):
      guard let factor = Self.pixels[unit] else {
        throw RecipeError(
          "\(function)() takes lengths in px, cm, mm, Q, in, pc or pt, found \(token.text)", at: token.offset)
      }
      pixels = value * factor
    default: throw unexpected(token, instead: "\(what) as a length")
    }
    return min(max(pixels, -1e6), 1e6) + 0
  }

  /// Reads a standard deviation: a length of at least 0, clamped to `ceiling`; `standard` when no length is next.
  mutating func deviation(default standard: Double, ceiling: Double) throws(RecipeError) -> Double {
    guard let token = peek else { return standard }
    if case .hash = token.kind { return standard }
    if case .identifier = token.kind { return standard }
    if case .function = token.kind { return standard }
    let value = try length("a deviation")
    guard value >= 0 else {
      throw RecipeError("\(function)() takes no negative deviation: \(token.text)", at: token.offset)
    }
    return min(value, ceiling)
  }

  /// Pixels of the absolute units (CSS Values and Units Module Level 4 § 6.2).
  private static let pixels: [String: Double] = [
    "px": 1, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6, "in": 96, "pc": 16, "pt": 96 / 72,
  ]

  /// Reads a required width and height, each 1…`ImageLimits.maxSide`.
  mutating func size() throws(RecipeError) -> PictureSize {
    let sides = 1...ImageLimits.maxSide
    let width = try integer("a width", in: sides)
    return PictureSize(width: width, height: try integer("a height", in: sides))
  }

  /// Reads a required width or height of 1…`ImageLimits.maxSide`; nil for `-`.
  /// - Parameter what: Its name in the error when there is none.
  mutating func side(_ what: String) throws(RecipeError) -> Int? {
    guard peek != nil else { throw RecipeError("\(function)() needs \(what)", at: end) }
    if take(.delimiter("-")) { return nil }
    return try integer(what.prefix { $0 != "," }.description, in: 1...ImageLimits.maxSide)
  }

  /// Reads a keyword if a word is next; `standard` when there is none.
  mutating func leadingKeyword<Word: RawRepresentable<String> & CaseIterable>(
    default standard: Word
  ) throws(RecipeError) -> Word {
    if case .identifier = peek?.kind { try keyword() } else { standard }
  }

  mutating func keyword<Word: RawRepresentable<String> & CaseIterable>() throws(RecipeError) -> Word {
    let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
    let token = try next(words)
    guard case .identifier(let name) = token.kind, let word = Word(rawValue: name.lowercased()) else {
      throw unexpected(token, instead: "one of \(words)")
    }
    return word
  }

  /// Reads a keyword; `standard` when there are no more arguments.
  mutating func keyword<Word: RawRepresentable<String> & CaseIterable>(
    default standard: Word
  ) throws(RecipeError) -> Word {
    tokens.isEmpty ? standard : try keyword()
  }

  /// Reads a keyword if one of its words is next.
  mutating func keywordIfNext<Word: RawRepresentable<String> & CaseIterable>() -> Word? {
    guard case .identifier(let name)? = peek?.kind, let word = Word(rawValue: name.lowercased()) else { return nil }
    skip()
    return word
  }

  /// The error for what is next, or missing.
  func missing(_ what: String) -> RecipeError {
    peek.map { unexpected($0, instead: what) } ?? RecipeError("\(function)() needs \(what)", at: end)
  }

  /// Consumes a word if it is next; returns whether it was.
  mutating func flag(_ word: String) -> Bool {
    guard case .identifier(let name)? = tokens.first?.kind, name.lowercased() == word else { return false }
    tokens.removeFirst()
    return true
  }

  private mutating func next(_ what: String) throws(RecipeError) -> CSSToken {
    guard let token = tokens.popFirst() else { throw RecipeError("\(function)() needs \(what)", at: end) }
    return token
  }

  /// The offset of the next token.
  var offset: Int { tokens.first?.offset ?? end }

  /// The next token, which is not consumed; nil at the end.
  var peek: CSSToken? { tokens.first }

  mutating func skip() { _ = tokens.popFirst() }

  /// Consumes a token if it is next; returns whether it was.
  mutating func take(_ kind: CSSToken.Kind) -> Bool {
    guard peek?.kind == kind else { return false }
    skip()
    return true
  }

  /// Throws unless all arguments have been consumed.
  mutating func finish() throws(RecipeError) {
    guard let token = tokens.popFirst() else { return }
    if case .function = token.kind { throw unexpected(token, instead: "no more arguments") }
    throw RecipeError("\(function)() takes no more arguments, found \(token.text)", at: token.offset)
  }

  private func unexpected(_ token: CSSToken, instead: String) -> RecipeError {
    if case .function(let name) = token.kind {
      return RecipeError("\(name.lowercased())() is not available in this version", at: token.offset)
    }
    return RecipeError("\(function)() takes \(instead), found \(token.text)", at: token.offset)
  }
}
