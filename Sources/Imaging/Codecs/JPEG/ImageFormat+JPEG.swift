extension ImageFormat {
  /// JPEG (ITU-T T.81) in a JFIF or Exif file.
  package static let jpeg = ImageFormat(
    name: "jpeg", displayName: "JPEG", fileExtension: "jpg",
    signatures: [FormatSignature(bytes: [0xFF, 0xD8, 0xFF], distinctiveCount: 2)],
    hasAlpha: false, hasGrey: true, has16Bit: false, compression: .lossy, structure: JPEGStructure.self,
    decoder: JPEGDecoder.self, encoder: JPEGEncoder.self)
}
