/// The channels of pixels, and the depth at which a file stores them.
package struct PixelLayout: Sendable, Hashable {
  /// Whether there is one grey channel instead of red, green and blue.
  var isGrey: Bool
  var hasAlpha: Bool
  /// Whether samples have 16 bits instead of 8.
  var is16Bit: Bool

  /// The number of channels: grey or red, green and blue, and alpha.
  var channels: Int { (isGrey ? 1 : 3) + (hasAlpha ? 1 : 0) }

  /// Samples of a pixel in packed rows: 1 for grey, 2 for grey and alpha, 4 for colour with alpha or a filler.
  var packedSamples: Int { isGrey ? (hasAlpha ? 2 : 1) : 4 }
  /// Bytes of a pixel in packed rows.
  var packedBytes: Int { packedSamples * (is16Bit ? 2 : 1) }
}
