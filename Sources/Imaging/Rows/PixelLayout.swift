/// Which channels pixels have, and how finely they are stored in a file.
package struct PixelLayout: Sendable, Hashable {
  /// One grey channel instead of red, green and blue.
  var isGrey: Bool
  /// Whether there is an alpha channel.
  var hasAlpha: Bool
  /// 16 bits for each sample instead of 8.
  var isDeep: Bool

  /// Grey or red, green and blue, and alpha.
  var channels: Int { (isGrey ? 1 : 3) + (hasAlpha ? 1 : 0) }

  /// Samples of a pixel in packed rows: 1 grey, 2 grey and alpha, 4 colour with alpha or a filler.
  var packedSamples: Int { isGrey ? (hasAlpha ? 2 : 1) : 4 }
  /// Bytes of a pixel in packed rows.
  var packedBytes: Int { packedSamples * (isDeep ? 2 : 1) }
}
