/// The layout of a HEIF file: its boxes, and the items that are no pictures.
struct HEIFStructure: PictureStructure {
  let info: ImageInfo
  private let file: FileReader
  private let container: HEIFContainer

  /// A part of the file and what it becomes; nil for zeros.
  private typealias Change = (range: Range<Int64>, bytes: [UInt8]?)

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    self.file = file
    container = try HEIFContainer(file, limits: limits, readsMetadata: false)
    info = ImageInfo(format: container.format, width: container.width, height: container.height)
  }

  /// The offsets of what stays are in the file, in several forms: what is not kept is overwritten, not cut out, except for what
  /// follows the picture. Items become ones of a type that readers skip, and boxes free space.
  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    var parts = CopiedParts(limit: Self.maxParts)
    let kept = HEIFContainer.pictureBoxes.union(policy == .all ? ["uuid"] : [])
    let end = container.boxes.last { kept.contains($0.type) }?.end ?? 0
    var changes: [Change] = []
    if policy != .all {
      for item in container.items.items.values where item.isMetadata {
        changes += try overwriting(item, policy, &parts.hasUnreadableMetadata)
      }
      let boxes = container.boxes.filter { !kept.contains($0.type) && $0.end <= end } + container.items.others
      for box in boxes { changes += [((box.start + 4)..<(box.start + 8), Self.free), (box.content..<box.end, nil)] }
      parts.mayKeepMetadata = !knowsPlaces
      changes += unreferenced.map { ($0, nil) }
    }
    for change in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      let (start, last) = (max(change.range.lowerBound, parts.offset), min(change.range.upperBound, end))
      guard start < last else { continue }
      guard let bytes = change.bytes else {
        try parts.blank(start..<last, of: file)
        continue
      }
      let skipped = Int(start - change.range.lowerBound)
      let changed = Array(bytes[skipped..<(skipped + Int(last - start))])
      guard try file.bytes(changed.count, at: start) != changed else { continue }
      try parts.keep(upTo: start)
      try parts.replace(upTo: last, by: changed)
    }
    try parts.keep(upTo: end)
    return parts
  }

  /// An item may have many parts, each with something behind it. Most need 24 bytes of memory each.
  private static let maxParts = 1 << 17
  private static let free = Array("free".utf8)

  /// Whether all data are those of items: a film has some of its own, and a part of an item without a size may reach as far as its
  /// reader likes.
  private var knowsPlaces: Bool {
    // A derived picture of the type iden has no data.
    let pictures = container.items.items.values.lazy.filter { !$0.isMetadata && $0.type != "iden" }
    return !container.boxes.contains { $0.type == "moov" }
      && !pictures.contains { $0.extents.contains(where: \.isEmpty) }
  }

  /// What is in boxes for data and in no item, such as what an editor has left there, as far as that is known.
  private var unreferenced: [Range<Int64>] {
    guard knowsPlaces else { return [] }
    let boxes = container.boxes.filter { $0.type == "mdat" }.map { $0.content..<$0.end }
    return ByteRanges.difference(
      boxes + (container.items.itemData.map { [$0] } ?? []), container.items.items.values.flatMap(\.extents))
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
        let end = item.extents[0].lowerBound + 4 + Int64(rights.count)
        return [(item.extents[0].lowerBound..<end, [0, 0, 0, 0] + rights), (end..<item.extents[0].upperBound, nil)]
      }
      if exif == nil || rights != nil { isUnreadable = true }
    }
    return item.extents.map { ($0, nil) } + [(item.typeRange, Array("skip".utf8)), (item.textRange, nil)]
  }
}
