extension String {
  /// The columns of a terminal that the text occupies, at most: where terminals differ, the larger number. The text has no
  /// control characters, see `visible`.
  var columns: Int { utf8.allSatisfy { $0 < 0x80 } ? utf8.count : unicodeScalars.columns }

  /// The text in at most so many columns: a text that is too long ends with `…`.
  func cut(toColumns limit: Int) -> String {
    if columns <= limit { return self }
    guard limit > 0 else { return "" }
    var (cut, used) = ("", 1)
    for character in self {
      used += character.unicodeScalars.columns
      if used > limit { break }
      cut.append(character)
    }
    return cut + "…"
  }

  /// The text padded with spaces to a number of columns: at its end or, if it is aligned right, before it.
  func filled(toColumns count: Int, alignedRight: Bool = false) -> String {
    let spaces = String(repeating: " ", count: max(0, count - columns))
    return alignedRight ? spaces + self : self + spaces
  }
}

extension Sequence<Unicode.Scalar> {
  fileprivate var columns: Int {
    var (sum, last) = (0, 0)
    for scalar in self {
      // It makes a symbol an emoji, which some terminals show wide.
      let count = scalar.value == 0xFE0F ? (last == 1 ? 1 : 0) : scalar.columns
      sum += count
      last = count
    }
    return sum
  }
}

extension Unicode.Scalar {
  /// 0, 1 or 2, by East Asian width (UAX #11) and general category. Terminals that join a sequence of emoji into one use
  /// fewer.
  fileprivate var columns: Int {
    switch value {
    case 0x20..<0x7F: return 1
    case 0..<0x20, 0x7F..<0xA0: return 0
    case 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x206F, 0xFEFF: return 0
    case 0xA0..<0x300: return 1
    default: break
    }
    if Self.wide.contains(where: { $0.contains(value) }) || properties.isEmojiPresentation { return 2 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: return 1
    }
  }

  /// The wide and full-width characters of UAX #11 except emoji, with the unassigned ones between them.
  private static let wide: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
    0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F265, 0x20000...0x3FFFD,
  ]
}
