/// A part of a colour as it was written.
struct ColourComponent {
  /// The number, or the percentage without its sign.
  let value: Double
  private let isPercentage: Bool

  init(number: Double) { (value, isPercentage) = (number, false) }
  init(percentage: Double) { (value, isPercentage) = (percentage, true) }

  /// The part as a fraction, where a number of `whole` means all.
  func fraction(of whole: Double) -> Double { value / (isPercentage ? 100 : whole) }
}
