/// The layout of a JPEG file (ITU-T T.81; T.871 for JFIF): segments, scans, the end of the picture, and what follows it, such
/// as the further pictures of a multi-picture file (CIPA DC-007).
struct JPEGStructure: PictureStructure {
  let info: ImageInfo
  private let file: FileReader
  private let header: JPEGHeader

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    self.file = file
    header = try JPEGHeader(file, limits: limits)
    info = ImageInfo(format: .jpeg, width: header.width, height: header.height)
  }

  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    let scans = try JPEGScans(file, after: header)
    var parts = CopiedParts()
    var filter = JPEGSegmentFilter(policy)
    for segment in header.segments + scans.segments {
      try parts.keep(upTo: segment.start)
      switch filter.verdict(on: segment.marker, try file.bytes(segment.count, at: segment.content)) {
      case .keep: try parts.keep(upTo: segment.end)
      case .drop: parts.drop(upTo: segment.end)
      case .replace(let content):
        let length = [UInt8](bigEndian: content.count + 2, count: 2)
        try parts.replace(upTo: segment.end, by: [0xFF, segment.marker] + length + content)
      }
    }
    guard !header.hasMoreSegments, scans.segments.count < CopiedParts.limit else {
      throw ImagingError(
        code: .imageCorrupt, message: "the JPEG has more than \(CopiedParts.limit) segments of metadata")
    }
    let size = try file.size()
    try parts.keep(upTo: min(scans.end ?? size, size))
    parts.hasUnreadableMetadata = filter.hasUnreadableMetadata
    return parts
  }
}
