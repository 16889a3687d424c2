extension ImageFormat {
  /// WebP (RFC 9649).
  package static let webp = ImageFormat(
    name: "webp", displayName: "WebP", fileExtension: "webp",
    // "RIFF", the size, "WEBP".
    signatures: [
      FormatSignature(bytes: [0x52, 0x49, 0x46, 0x46, nil, nil, nil, nil, 0x57, 0x45, 0x42, 0x50], distinctiveCount: 9)
    ],
    hasAlpha: true, hasGrey: false, has16Bit: false, compression: .either, structure: WebPStructure.self,
    decoder: WebPDecoder.self, encoder: WebPEncoder.self)
}
