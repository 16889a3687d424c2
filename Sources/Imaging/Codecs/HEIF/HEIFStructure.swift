/// The layout of a HEIF file: its boxes, and the items of metadata.
struct HEIFStructure: PictureStructure {
  let info: ImageInfo
  private let file: FileReader
  private let container: HEIFContainer

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    self.file = file
    container = try HEIFContainer(file, limits: limits, readsMetadata: false)
    info = ImageInfo(format: try Self.format(file), width: container.width, height: container.height)
  }

  static func format(_ file: FileReader) throws(ImagingError) -> ImageFormat {
    ImageFormat.sniffed(from: try file.bytes(ContentKind.headerBytes, at: 0)) ?? .heic
  }

  /// The offsets of what stays are in the file, in several forms: what is not kept is overwritten, not cut out. Its items become
  /// ones of a type that readers skip.
  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    var parts = CopiedParts()
    let end = try pictureEnd()
    guard policy != .all else {
      try parts.keep(upTo: end)
      return parts
    }
    var changes: [(range: Range<Int64>, bytes: [UInt8])] = []
    for (_, item) in container.items.items where item.isMetadata {
      changes += try overwriting(item, policy, &parts.hasUnreadableMetadata)
    }
    for box in container.boxes where box.type == "uuid" && box.end <= end {
      changes.append(((box.start + 4)..<(box.start + 8), Array("free".utf8)))
      changes += Self.blanks(box.content..<box.end)
    }
    // Extents of hostile files may overlap: what is overwritten once stays so.
    for change in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      let (start, last) = (max(change.range.lowerBound, parts.offset), min(change.range.upperBound, end))
      guard start < last else { continue }
      try parts.keep(upTo: start)
      let skipped = Int(start - change.range.lowerBound)
      try parts.replace(upTo: last, by: Array(change.bytes[skipped..<(skipped + Int(last - start))]))
    }
    try parts.keep(upTo: end)
    return parts
  }

  /// The end of the last box that the picture needs, or is not known to be something else.
  private func pictureEnd() throws(ImagingError) -> Int64 {
    let needed = container.boxes.last { !["uuid", "free", "skip"].contains($0.type) }
    return min(needed?.end ?? 0, try file.size())
  }

  private func overwriting(
    _ item: HEIFItems.Item, _ policy: MetadataPolicy, _ isUnreadable: inout Bool
  ) throws(ImagingError) -> [(range: Range<Int64>, bytes: [UInt8])] {
    if item.type == "Exif", policy == .copyright, item.extents.count == 1 {
      let content = try HEIFContainer.content(of: item, file) ?? []
      let exif = HEIFContainer.exif(in: content)
      if exif?.isReadable != true { isUnreadable = true }
      if let exif, exif.isReadable, let kept = exif.oriented(.upright).reduced(to: policy)?.bytes,
        let offset = HEIFContainer.exifOffset(in: content), kept.count <= content.count - offset
      {
        // What follows the stream does not matter.
        let zeros = [UInt8](repeating: 0, count: content.count - offset - kept.count)
        let result = Array(content[..<offset]) + kept + zeros
        return result == content ? [] : [(item.extents[0], result)]
      }
    }
    var changes = item.extents.flatMap(Self.blanks)
    changes.append((item.typeOffset..<(item.typeOffset + 4), Array("skip".utf8)))
    if let offset = item.contentTypeOffset {
      let count = item.contentType.utf8.count
      changes.append((offset..<(offset + Int64(count)), [UInt8](repeating: UInt8(ascii: "x"), count: count)))
    }
    return changes
  }

  /// Zeros for a range, in pieces of memory that they share.
  private static func blanks(_ range: Range<Int64>) -> [(range: Range<Int64>, bytes: [UInt8])] {
    stride(from: range.lowerBound, to: range.upperBound, by: zeros.count).map { start in
      let count = Int(min(range.upperBound - start, Int64(zeros.count)))
      return (start..<(start + Int64(count)), count == zeros.count ? zeros : Array(zeros[..<count]))
    }
  }

  private static let zeros = [UInt8](repeating: 0, count: 64 << 10)
}
