/// The layout of a TIFF file: the directories of its pages, and the fields that are no pictures.
struct TIFFStructure: PictureStructure {
  let info: ImageInfo
  var damage: PictureDamage? { container.damage }
  private let container: TIFFContainer

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    container = try TIFFContainer(file, limits: limits)
    info = container.info
  }

  /// There are offsets all over the file: fields that are not kept are taken out of their directories, and whatever nothing refers
  /// to then is overwritten with zeros. What follows the last part of the file that something refers to is cut off.
  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    let cut = try TIFFCut(container, policy)
    var parts = CopiedParts(limit: Self.maxParts)
    (parts.hasUnreadableMetadata, parts.mayKeepMetadata) = (cut.hasUnreadableMetadata, cut.mayKeepMetadata)
    var blanks = cut.blanks[...]
    for change in cut.changes where change.range.lowerBound < cut.end {
      try blank(&blanks, before: change.range.lowerBound, &parts)
      let range = change.range.clamped(to: 0..<cut.end)
      let bytes = Array(change.bytes.prefix(range.count))
      let place = range.lowerBound..<(range.lowerBound + Int64(bytes.count))
      if try container.file.bytes(place) != bytes {
        try parts.keep(upTo: place.lowerBound)
        try parts.replace(upTo: place.upperBound, by: bytes)
      }
      try parts.blank(place.upperBound..<range.upperBound, of: container.file.file)
    }
    try blank(&blanks, before: cut.end, &parts)
    try parts.keep(upTo: cut.end)
    return parts
  }

  /// Each page and each strip may have something behind it. Parts that are not changed ones need 24 bytes of memory each.
  private static let maxParts = 1 << 20

  /// Overwrites ranges with zeros, as far as they have other bytes.
  private func blank(
    _ ranges: inout ArraySlice<Range<Int64>>, before end: Int64, _ parts: inout CopiedParts
  ) throws(ImagingError) {
    while let range = ranges.first, range.lowerBound < end {
      ranges.removeFirst()
      try parts.blank(range.clamped(to: 0..<end), of: container.file.file)
    }
  }
}
