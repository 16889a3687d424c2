extension ImageFormat {
  /// Portable Network Graphics (W3C PNG, third edition).
  ///
  /// Any bytes match the second half of the signature: it detects text-mode transfers, which libpng reports as damage.
  package static let png = ImageFormat(
    name: "png", displayName: "PNG", fileExtension: "png",
    signatures: [FormatSignature(bytes: [0x89, 0x50, 0x4E, 0x47, nil, nil, nil, nil], distinctiveCount: 2)],
    hasAlpha: true, hasGrey: true, has16Bit: true, compression: .lossless, structure: PNGStructure.self,
    decoder: PNGDecoder.self, encoder: PNGEncoder.self)
}
