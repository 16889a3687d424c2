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
      guard try container.file.bytes(range) != bytes else { continue }
      try parts.keep(upTo: range.lowerBound)
      try parts.replace(upTo: range.upperBound, by: bytes)
    }
    try blank(&blanks, before: cut.end, &parts)
    try parts.keep(upTo: cut.end)
    return parts
  }

  /// Each page and each strip may have something behind it. Parts that are not changed ones need 24 bytes of memory each.
  private static let maxParts = 1 << 20
  /// The bytes that are compared at a time.
  private static let pieceBytes: Int64 = 64 << 10

  /// Overwrites ranges with zeros, as far as they have other bytes.
  private func blank(
    _ ranges: inout ArraySlice<Range<Int64>>, before end: Int64, _ parts: inout CopiedParts
  ) throws(ImagingError) {
    while let range = ranges.first, range.lowerBound < end {
      ranges.removeFirst()
      let range = range.clamped(to: 0..<end)
      for start in stride(from: range.lowerBound, to: range.upperBound, by: Int64.Stride(Self.pieceBytes)) {
        let piece = start..<min(start + Self.pieceBytes, range.upperBound)
        guard try container.file.bytes(piece).contains(where: { $0 != 0 }) else { continue }
        try parts.keep(upTo: piece.lowerBound)
        try parts.blank(upTo: piece.upperBound)
      }
    }
  }
}
