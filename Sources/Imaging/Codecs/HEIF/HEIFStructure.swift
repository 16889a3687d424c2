/// The layout of a HEIF file: its boxes, and the items that are no pictures.
struct HEIFStructure: PictureStructure {
  let info: ImageInfo
  private let file: FileReader
  private let container: HEIFContainer

  /// A part of the file and what it becomes.
  private typealias Change = (range: Range<Int64>, bytes: [UInt8])

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    self.file = file
    container = try HEIFContainer(file, limits: limits, readsMetadata: false)
    info = ImageInfo(format: container.format, width: container.width, height: container.height)
  }

  /// The offsets of what stays are in the file, in several forms: what is not kept is overwritten, not cut out, except for what
  /// follows the picture. Items become ones of a type that readers skip, and boxes free space.
  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    var parts = CopiedParts()
    let kept = HEIFContainer.pictureBoxes.union(policy == .all ? ["uuid"] : [])
    let end = container.boxes.last { kept.contains($0.type) }?.end ?? 0
    var changes: [Change] = []
    if policy != .all {
      for item in container.items.items.values where item.isMetadata {
        changes += try overwriting(item, policy, &parts.hasUnreadableMetadata)
      }
      let boxes = container.boxes.filter { !kept.contains($0.type) && $0.end <= end } + container.items.others
      for box in boxes {
        changes.append(((box.start + 4)..<(box.start + 8), Array("free".utf8)))
        changes += Self.blanks(box.content..<box.end)
      }
    }
    for change in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      let (start, last) = (max(change.range.lowerBound, parts.offset), min(change.range.upperBound, end))
      guard start < last else { continue }
      let skipped = Int(start - change.range.lowerBound)
      let bytes = Array(change.bytes[skipped..<(skipped + Int(last - start))])
      guard try file.bytes(bytes.count, at: start) != bytes else { continue }
      try parts.keep(upTo: start)
      try parts.replace(upTo: last, by: bytes)
    }
    try parts.keep(upTo: end)
    return parts
  }

  private func overwriting(
    _ item: HEIFItems.Item, _ policy: MetadataPolicy, _ isUnreadable: inout Bool
  ) throws(ImagingError) -> [Change] {
    if item.type == "Exif", policy == .copyright {
      let content = item.extents.count == 1 ? try HEIFContainer.content(of: item, file) ?? [] : []
      let exif = HEIFContainer.exif(in: content).flatMap { $0.isReadable ? $0 : nil }
      let rights = exif?.oriented(.upright).reduced(to: policy)?.bytes
      if let rights, rights.count <= content.count - 4 {
        // Nothing is before the stream, and what follows it does not matter.
        return [
          (item.extents[0], [0, 0, 0, 0] + rights + [UInt8](repeating: 0, count: content.count - 4 - rights.count))
        ]
      }
      if exif == nil || rights != nil { isUnreadable = true }
    }
    return item.extents.flatMap(Self.blanks) + [(item.typeRange, Array("skip".utf8))]
      + [(item.textRange, [UInt8](repeating: 0, count: item.textRange.count))]
  }

  /// Zeros for a range, in pieces of memory that they share.
  private static func blanks(_ range: Range<Int64>) -> [Change] {
    stride(from: range.lowerBound, to: range.upperBound, by: zeros.count).map { start in
      let count = Int(min(range.upperBound - start, Int64(zeros.count)))
      return (start..<(start + Int64(count)), count == zeros.count ? zeros : Array(zeros[..<count]))
    }
  }

  private static let zeros = [UInt8](repeating: 0, count: 64 << 10)
}
