/// The layout of a BMP file: headers, colours, pixels, and perhaps a profile.
struct BMPStructure: PictureStructure {
  let info: ImageInfo
  private let file: FileReader
  private let header: BMPHeader

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    self.file = file
    header = try BMPHeader(file, limits: limits)
    info = ImageInfo(format: .bmp, width: header.width, height: header.height)
  }

  /// The whole file up to the end of its last part: it has no metadata but the profile.
  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    var parts = CopiedParts()
    try parts.keep(upTo: min(max(try pixelEnd, header.profile?.upperBound ?? 0), try file.size()))
    return parts
  }

  private var pixelEnd: Int64 {
    get throws(ImagingError) {
      guard case .runs = header.storage else {
        return header.pixelOffset + Int64(header.rowBytes) * Int64(header.height)
      }
      var runs = BMPRuns(file, header)
      do throws(ImagingError) {
        while try runs.next() != nil {}
      } catch {
        // Damage of the pixels is not looked for.
        if error.code == .io || error.code == .cancelled { throw error }
        return try file.size()
      }
      return runs.offset
    }
  }
}
