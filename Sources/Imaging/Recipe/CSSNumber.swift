/// Numbers as recipes write them.
enum CSSNumber {
  /// The shortest text that reads back as the same number: `0.8`, `1`, `1e-07`.
  static func text(_ value: Double) -> String {
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
