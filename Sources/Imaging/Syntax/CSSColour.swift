/// An sRGB colour with 8 bits per component, as CSS stores colours of its legacy notations.
package struct CSSColour: Equatable, Sendable, CustomStringConvertible {
  private let bytes: SIMD4<UInt8>

  static let black = CSSColour(0, 0, 0)
  static let transparent = CSSColour(0, 0, 0, alpha: 0)

  /// Creates a colour from components of 0…1; others are clamped.
  init(_ red: Double, _ green: Double, _ blue: Double, alpha: Double = 1) {
    bytes = SIMD4(Self.byte(red), Self.byte(green), Self.byte(blue), Self.byte(alpha))
  }

  private static func byte(_ value: Double) -> UInt8 { UInt8((min(max(value, 0), 1) * 255).rounded()) }

  /// Creates a colour from the digits of `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`; nil when they are invalid.
  init?(hexadecimal digits: String) {
    let values = digits.compactMap(\.hexDigitValue).map(UInt8.init)
    guard values.count == digits.count, [3, 4, 6, 8].contains(values.count) else { return nil }
    let parts =
      values.count <= 4
      ? values.map { $0 * 17 } : stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    bytes = SIMD4(parts[0], parts[1], parts[2], parts.count == 4 ? parts[3] : 255)
  }

  /// Creates a colour from a hue in degrees, saturation and lightness of 0…1 (CSS Color Module Level 4 § 7).
  init(hue: Double, saturation: Double, lightness: Double, alpha: Double) {
    let (saturation, lightness) = (min(max(saturation, 0), 1), min(max(lightness, 0), 1))
    func part(_ offset: Double) -> Double {
      let remainder = (offset + hue / 30).truncatingRemainder(dividingBy: 12)
      let shifted = remainder < 0 ? remainder + 12 : remainder
      return lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(shifted - 3, 9 - shifted, 1))
    }
    self.init(part(0), part(8), part(4), alpha: alpha)
  }

  /// 0…1.
  var red: Float { Float(bytes.x) / 255 }
  /// 0…1.
  var green: Float { Float(bytes.y) / 255 }
  /// 0…1.
  var blue: Float { Float(bytes.z) / 255 }
  /// 0…1, where 1 is opaque.
  var alpha: Float { Float(bytes.w) / 255 }
  var isOpaque: Bool { bytes.w == 255 }
  var isGrey: Bool { bytes.x == bytes.y && bytes.y == bytes.z }

  /// `#rrggbb` when opaque, else `#rrggbbaa`.
  package var description: String {
    let parts = bytes.w == 255 ? [bytes.x, bytes.y, bytes.z] : [bytes.x, bytes.y, bytes.z, bytes.w]
    return "#" + parts.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension CSSColour {
  /// Creates a colour from its name in lower case (CSS Color Module Level 4 § 6); nil for unknown names. `currentcolor` is
  /// black, as there is no `color` property.
  init?(named name: String) {
    switch name {
    case "transparent": self = .transparent
    case "currentcolor": self = .black
    default:
      guard let digits = Self.names[name] else { return nil }
      self.init(hexadecimal: digits)
    }
  }

  private static let names = [
    "aliceblue": "f0f8ff", "antiquewhite": "faebd7", "aqua": "00ffff", "aquamarine": "7fffd4", "azure": "f0ffff",
    "beige": "f5f5dc", "bisque": "ffe4c4", "black": "000000", "blanchedalmond": "ffebcd", "blue": "0000ff",
    "blueviolet": "8a2be2", "brown": "a52a2a", "burlywood": "deb887", "cadetblue": "5f9ea0", "chartreuse": "7fff00",
    "chocolate": "d2691e", "coral": "ff7f50", "cornflowerblue": "6495ed", "cornsilk": "fff8dc", "crimson": "dc143c",
    "cyan": "00ffff", "darkblue": "00008b", "darkcyan": "008b8b", "darkgoldenrod": "b8860b", "darkgray": "a9a9a9",
    "darkgreen": "006400", "darkgrey": "a9a9a9", "darkkhaki": "bdb76b", "darkmagenta": "8b008b",
    "darkolivegreen": "556b2f", "darkorange": "ff8c00", "darkorchid": "9932cc", "darkred": "8b0000",
    "darksalmon": "e9967a", "darkseagreen": "8fbc8f", "darkslateblue": "483d8b", "darkslategray": "2f4f4f",
    "darkslategrey": "2f4f4f", "darkturquoise": "00ced1", "darkviolet": "9400d3", "deeppink": "ff1493",
    "deepskyblue": "00bfff", "dimgray": "696969", "dimgrey": "696969", "dodgerblue": "1e90ff", "firebrick": "b22222",
    "floralwhite": "fffaf0", "forestgreen": "228b22", "fuchsia": "ff00ff", "gainsboro": "dcdcdc",
    "ghostwhite": "f8f8ff", "gold": "ffd700", "goldenrod": "daa520", "gray": "808080", "green": "008000",
    "greenyellow": "adff2f", "grey": "808080", "honeydew": "f0fff0", "hotpink": "ff69b4", "indianred": "cd5c5c",
    "indigo": "4b0082", "ivory": "fffff0", "khaki": "f0e68c", "lavender": "e6e6fa", "lavenderblush": "fff0f5",
    "lawngreen": "7cfc00", "lemonchiffon": "fffacd", "lightblue": "add8e6", "lightcoral": "f08080",
    "lightcyan": "e0ffff", "lightgoldenrodyellow": "fafad2", "lightgray": "d3d3d3", "lightgreen": "90ee90",
    "lightgrey": "d3d3d3", "lightpink": "ffb6c1", "lightsalmon": "ffa07a", "lightseagreen": "20b2aa",
    "lightskyblue": "87cefa", "lightslategray": "778899", "lightslategrey": "778899", "lightsteelblue": "b0c4de",
    "lightyellow": "ffffe0", "lime": "00ff00", "limegreen": "32cd32", "linen": "faf0e6", "magenta": "ff00ff",
    "maroon": "800000", "mediumaquamarine": "66cdaa", "mediumblue": "0000cd", "mediumorchid": "ba55d3",
    "mediumpurple": "9370db", "mediumseagreen": "3cb371", "mediumslateblue": "7b68ee", "mediumspringgreen": "00fa9a",
    "mediumturquoise": "48d1cc", "mediumvioletred": "c71585", "midnightblue": "191970", "mintcream": "f5fffa",
    "mistyrose": "ffe4e1", "moccasin": "ffe4b5", "navajowhite": "ffdead", "navy": "000080", "oldlace": "fdf5e6",
    "olive": "808000", "olivedrab": "6b8e23", "orange": "ffa500", "orangered": "ff4500", "orchid": "da70d6",
    "palegoldenrod": "eee8aa", "palegreen": "98fb98", "paleturquoise": "afeeee", "palevioletred": "db7093",
    "papayawhip": "ffefd5", "peachpuff": "ffdab9", "peru": "cd853f", "pink": "ffc0cb", "plum": "dda0dd",
    "powderblue": "b0e0e6", "purple": "800080", "rebeccapurple": "663399", "red": "ff0000", "rosybrown": "bc8f8f",
    "royalblue": "4169e1", "saddlebrown": "8b4513", "salmon": "fa8072", "sandybrown": "f4a460", "seagreen": "2e8b57",
    "seashell": "fff5ee", "sienna": "a0522d", "silver": "c0c0c0", "skyblue": "87ceeb", "slateblue": "6a5acd",
    "slategray": "708090", "slategrey": "708090", "snow": "fffafa", "springgreen": "00ff7f", "steelblue": "4682b4",
    "tan": "d2b48c", "teal": "008080", "thistle": "d8bfd8", "tomato": "ff6347", "turquoise": "40e0d0",
    "violet": "ee82ee", "wheat": "f5deb3", "white": "ffffff", "whitesmoke": "f5f5f5", "yellow": "ffff00",
    "yellowgreen": "9acd32",
  ]
}
