/// The layout of a JPEG file (ITU-T T.81; T.871 for JFIF): segments, scans, the end of the picture, and the rest, such as the
/// further pictures of a multi-picture file (CIPA DC-007).
struct JPEGStructure: PictureStructure {
  let info: ImageInfo
  let damage: PictureDamage?
  let decodingError: ImagingError?
  /// The most segments up to the picture's end, without headers of scans: cameras and encoders write some
  /// dozens.
  static let maxSegments = 10_000

  private let file: FileReader
  private let header: JPEGHeader

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    self.file = file
    header = try JPEGHeader(file, limits: limits)
    damage = try header.damage(in: file)
    decodingError = header.decodingError
    info = ImageInfo(
      format: .jpeg, width: header.width, height: header.height, frames: JPEGMetadataReader.frames(in: file))
  }

  /// Further pictures follow the first one's end, and their index is never kept.
  var copiedInfo: ImageInfo { ImageInfo(format: .jpeg, width: info.width, height: info.height) }

  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    let scans = try JPEGScans(after: header)
    var parts = CopiedParts()
    var filter = JPEGSegmentFilter(policy)
    for segment in header.segments + scans.segments {
      try parts.keep(upTo: segment.start)
      let content = segment.marker == 0 ? [] : try file.bytes(segment.count, at: segment.content)
      switch filter.verdict(on: segment.marker, content) {
      case .keep: try parts.keep(upTo: segment.end)
      case .drop: parts.drop(upTo: segment.end)
      case .replace(let content):
        let length = [UInt8](bigEndian: content.count + 2, count: 2)
        try parts.replace(upTo: segment.end, by: [0xFF, segment.marker] + length + content)
      }
    }
    let size = try file.size()
    try parts.keep(upTo: min(scans.end ?? size, size))
    parts.hasUnreadableMetadata = filter.hasUnreadableMetadata
    return parts
  }

  /// Checks the number of segments.
  /// - Throws: `image-corrupt`.
  static func check(segments: Int) throws(ImagingError) {
    guard segments > maxSegments else { return }
    throw ImagingError(code: .imageCorrupt, message: "the JPEG has more than \(maxSegments) segments")
  }
}
