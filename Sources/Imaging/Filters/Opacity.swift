/// `opacity(amount)`: multiplies alpha (Filter Effects Module Level 1 § 12.1.6); 0 is transparent, 1 changes nothing.
struct Opacity: AmountFilter {
  static let name = "opacity"
  static let summary = "makes the picture translucent; 0 is transparent, 1 changes nothing"

  let amount: Double

  var makesTranslucent: Bool { amount < 1 }

  var stage: any RowStage { AlphaScale(factor: amount) }
}
