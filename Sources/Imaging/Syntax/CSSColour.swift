import Foundation

/// An sRGB colour with 8 bits per component, as CSS stores colours of its legacy notations.
package struct CSSColour: Equatable, Sendable, CustomStringConvertible {
  private let bytes: SIMD4<UInt8>

  static let black = CSSColour(0, 0, 0)

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
      let place = remainder < 0 ? remainder + 12 : remainder
      return lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(place - 3, 9 - place, 1))
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
  /// Whether red, green and blue are equal.
  var isGrey: Bool { bytes.x == bytes.y && bytes.y == bytes.z }

  /// `#rrggbb` when opaque, else `#rrggbbaa`.
  package var description: String {
    let parts = bytes.w == 255 ? [bytes.x, bytes.y, bytes.z] : [bytes.x, bytes.y, bytes.z, bytes.w]
    return "#" + parts.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
