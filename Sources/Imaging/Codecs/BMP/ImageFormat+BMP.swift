extension ImageFormat {
  /// Windows and OS/2 bitmaps. Only read.
  package static let bmp = ImageFormat(
    name: "bmp", displayName: "BMP", fileExtension: "bmp",
    // Two letters are not enough: the size of the second header is compared, too.
    signatures: BMPHeader.sizes.map { size in
      FormatSignature(
        bytes: Array("BM".utf8) + [UInt8?](repeating: nil, count: 12) + [UInt8(size), 0, 0, 0], distinctiveCount: 15)
    },
    hasAlpha: true, hasGrey: false, has16Bit: false, compression: .lossless, structure: BMPStructure.self,
    decoder: BMPDecoder.self, encoder: nil, needsWorker: true)
}
