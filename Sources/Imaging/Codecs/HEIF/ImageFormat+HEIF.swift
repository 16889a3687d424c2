extension ImageFormat {
  /// AVIF (AV1 Image File Format).
  package static let avif = ImageFormat(
    name: "avif", displayName: "AVIF", fileExtension: "avif", signatures: signatures(["avif", "avis"]), hasAlpha: true,
    hasGrey: false, has16Bit: false, compression: .lossy, structure: HEIFStructure.self, decoder: HEIFDecoder.self,
    encoder: AVIFEncoder.self, needsWorker: true, library: .libheif)

  /// HEIC, and other pictures in HEIF files (ISO/IEC 23008-12). Only read.
  package static let heic = ImageFormat(
    name: "heic", displayName: "HEIC", fileExtension: "heic",
    signatures: signatures(["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1"]), hasAlpha: true,
    hasGrey: false, has16Bit: true, compression: .lossy, structure: HEIFStructure.self, decoder: HEIFDecoder.self,
    encoder: nil, needsWorker: true, library: .libheif)

  /// A `ftyp` box with one of these as its major brand.
  private static func signatures(_ brands: [String]) -> [FormatSignature] {
    brands.map {
      FormatSignature(bytes: [nil, nil, nil, nil] + "ftyp\($0)".utf8.map(Optional.some), distinctiveCount: 12)
    }
  }
}
