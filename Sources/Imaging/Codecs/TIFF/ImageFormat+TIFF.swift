extension ImageFormat {
  /// TIFF (TIFF 6.0) and BigTIFF. Only read.
  package static let tiff = ImageFormat(
    name: "tiff", displayName: "TIFF", fileExtension: "tif",
    signatures: ["II*\0", "MM\0*", "II+\0", "MM\0+"].map {
      FormatSignature(bytes: $0.utf8.map(Optional.some), distinctiveCount: 3)
    },
    hasAlpha: true, hasGrey: true, has16Bit: true, compression: .lossless, structure: TIFFStructure.self,
    decoder: TIFFDecoder.self, encoder: nil, needsWorker: true, library: .libtiff)
}
