extension ImageFormat {
  /// GIF (CompuServe GIF89a). Only read.
  package static let gif = ImageFormat(
    name: "gif", displayName: "GIF", fileExtension: "gif",
    // GIF87a or GIF89a.
    signatures: [FormatSignature(bytes: [0x47, 0x49, 0x46, 0x38, nil, 0x61], distinctiveCount: 4)],
    hasAlpha: true, hasGrey: false, has16Bit: false, compression: .lossless, structure: GIFStructure.self,
    decoder: GIFDecoder.self, encoder: nil, needsWorker: true, library: .giflib)
}
