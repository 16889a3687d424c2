/// The layout of a TIFF file: the directories of its pages, and the fields that are no pictures.
struct TIFFStructure: PictureStructure {
  let info: ImageInfo
  private let container: TIFFContainer

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    container = try TIFFContainer(file, limits: limits)
    info = container.info
  }

  /// There are offsets all over the file: fields that are not kept are taken out of their directories, and their values are
  /// overwritten with zeros. What follows the last part of the file that something refers to is cut off.
  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    var parts = CopiedParts()
    let cut = try TIFFCut(container, policy)
    parts.hasUnreadableMetadata = cut.hasUnreadableMetadata
    for change in cut.changes where change.range.lowerBound < cut.end {
      let range = change.range.clamped(to: 0..<cut.end)
      let bytes = Array(change.bytes.prefix(range.count))
      guard try container.file.bytes(range) != bytes else { continue }
      try parts.keep(upTo: range.lowerBound)
      try parts.replace(upTo: range.upperBound, by: bytes)
    }
    try parts.keep(upTo: cut.end)
    return parts
  }
}
