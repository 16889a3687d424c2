/// The contents of a HEIF file (ISO/IEC 23008-12), which AVIF and HEIC are: its primary picture, read from its boxes without
/// libheif.
struct HEIFContainer {
  /// The size of the picture after its transformations.
  let width, height: Int
  /// The pixels of the picture before them.
  let codedPixels: Int
  let is16Bit: Bool
  let hasAlpha: Bool
  let chroma: ChromaSampling
  let metadata: Metadata
  let items: HEIFItems
  /// The boxes of the file, in its order.
  let boxes: [HEIFBox]

  /// More boxes in a file are an attack.
  private static let maxBoxes = 10_000
  /// The largest `meta` box: that of a grid of 20 000 pictures.
  private static let maxMetaBytes = 4 << 20

  /// Reads the boxes of a file.
  /// - Throws: `image-truncated`, `image-corrupt`, `unsupported-format`, `image-too-large`, `image-too-small`, `io`, `cancelled`.
  init(_ file: FileReader, limits: ImageLimits, readsMetadata: Bool = true) throws(ImagingError) {
    let size = try file.size()
    boxes = try Self.boxes(file, size)
    guard let meta = boxes.first(where: { $0.type == "meta" }) else {
      guard boxes.contains(where: { $0.type == "moov" }) else { throw .truncatedHEIF }
      throw ImagingError(code: .unsupportedFormat, message: "the HEIF file is a film without a picture")
    }
    let count = Int(meta.end - meta.content)
    guard count <= Self.maxMetaBytes else { throw .heif("the box meta has \(count) bytes") }
    let bytes = try file.bytes(count, at: meta.content)
    guard bytes.count == count else { throw .truncatedHEIF }
    var reader = HEIFReader(bytes[...])
    guard reader.versionAndFlags() != nil else { throw .heif("the box meta is too short") }
    let items = try HEIFItems(reader, at: meta.content)
    self.items = items
    guard let primary = items.primary, let item = items.items[primary] else { throw .heif("it has no primary picture") }
    guard Self.pictureTypes.contains(item.type) else {
      throw ImagingError(
        code: .unsupportedFormat, message: "the HEIF file has a picture of the kind \(item.type.debugDescription)")
    }
    guard var spatial = items.properties("ispe", of: item).first, spatial.versionAndFlags() != nil,
      let width = spatial.integer(4), let height = spatial.integer(4)
    else { throw .heif("its picture has no size") }
    try limits.check(PictureSize(width: width, height: height), of: .source)
    codedPixels = width * height
    let visible = try Self.visibleSize(PictureSize(width: width, height: height), item, items)
    (self.width, self.height) = (visible.width, visible.height)
    try limits.check(width: visible.width, height: visible.height)
    let configuration = Self.configuration(primary, item, items)
    is16Bit = configuration.bits > 8
    chroma = configuration.chroma
    hasAlpha = items.sources("auxl", to: primary).contains { Self.isAlpha($0, items) }
    let coded = try Self.codedPictures(of: primary, items).flatMap { items.items[$0]?.extents ?? [] }
    guard coded.allSatisfy({ $0.upperBound <= size }) else { throw .truncatedHEIF }
    try Self.checkMetadata(items, apartFrom: boxes, of: coded)
    if item.type == "grid" { try Self.check(item, width: width, height: height, file) }
    metadata = readsMetadata ? try Self.metadata(primary, item, items, file) : Metadata()
  }

  private static let pictureTypes: Set<String> = ["hvc1", "av01", "grid", "iden"]

  private static func boxes(_ file: FileReader, _ size: Int64) throws(ImagingError) -> [HEIFBox] {
    var (boxes, offset) = ([HEIFBox](), Int64(0))
    while offset < size {
      guard boxes.count < maxBoxes else { throw .heif("it has more than \(maxBoxes) boxes") }
      guard let box = try HEIFBox(file.bytes(16, at: offset)[...], at: offset, before: size) else { break }
      boxes.append(box)
      offset = box.end
    }
    return boxes
  }

  /// The size after cropping and turning.
  private static func visibleSize(
    _ coded: PictureSize, _ item: HEIFItems.Item, _ items: HEIFItems
  ) throws(ImagingError) -> PictureSize {
    var (width, height) = (coded.width, coded.height)
    for index in item.properties where items.properties.indices.contains(index - 1) {
      var content = items.properties[index - 1].content
      switch items.properties[index - 1].type {
      case "irot":
        if let turns = content.integer(1), turns & 1 == 1 { (width, height) = (height, width) }
      case "clap":
        var sides: [Int] = []
        for _ in 0..<2 {
          guard let numerator = content.integer(4), let denominator = content.integer(4), denominator > 0 else {
            throw .heif("its picture is cropped to no size")
          }
          sides.append(numerator / denominator)
        }
        (width, height) = (min(width, sides[0]), min(height, sides[1]))
        guard width > 0, height > 0 else { throw .heif("its picture is cropped to no size") }
      default: break
      }
    }
    return PictureSize(width: width, height: height)
  }

  /// The bits of a sample, and the chroma sampling: of a grid those of its first picture.
  private static func configuration(
    _ number: Int, _ item: HEIFItems.Item, _ items: HEIFItems
  ) -> (bits: Int, chroma: ChromaSampling) {
    var coded = item
    // A picture that is derived from one that is derived, and so on, must not go on without end.
    var current = number
    for _ in 0..<8 where !["hvc1", "av01"].contains(coded.type) {
      guard let next = items.targets("dimg", of: current).first, let nextItem = items.items[next] else { break }
      (current, coded) = (next, nextItem)
    }
    if let av1 = items.properties("av1C", of: coded).first, let flags = av1.rest.dropFirst(2).first {
      let bits = flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12
      let chroma = ChromaSampling(horizontal: flags & 8 == 0 ? 1 : 2, vertical: flags & 4 == 0 ? 1 : 2)
      return (bits, flags & 0x10 == 0 ? chroma : .yuv420)
    }
    if let hevc = items.properties("hvcC", of: coded).first, hevc.rest.count > 17 {
      let bytes = Array(hevc.rest.prefix(18))
      let chroma = [1: ChromaSampling.yuv420, 2: ChromaSampling(horizontal: 2, vertical: 1), 3: .yuv444]
      return (Int(bytes[17] & 7) + 8, chroma[Int(bytes[16] & 3)] ?? .yuv420)
    }
    return (8, .yuv420)
  }

  /// Whether an item is the alpha of a picture (ISO/IEC 23008-12 § 7.2.2.1, ISO/IEC 23091-2).
  private static func isAlpha(_ number: Int, _ items: HEIFItems) -> Bool {
    guard let item = items.items[number], var kind = items.properties("auxC", of: item).first,
      kind.versionAndFlags() != nil
    else { return false }
    return ["urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"].contains(kind.text())
  }

  /// A picture, its alpha, and all that they are made of.
  /// - Throws: `image-corrupt` when one is made of itself, or of more generations than encoders make.
  private static func codedPictures(of primary: Int, _ items: HEIFItems) throws(ImagingError) -> Set<Int> {
    var (all, generation) = (Set<Int>(), Set([primary] + items.sources("auxl", to: primary)))
    for _ in 0..<4 {
      all.formUnion(generation)
      generation = Set(generation.flatMap { items.targets("dimg", of: $0) })
      if generation.isEmpty { return all }
    }
    throw .heif("its picture is made of pictures that are made of pictures without end")
  }

  /// Checks that a grid says of its size what its properties say (ISO/IEC 23008-12 § 6.6.2.3): libheif goes by the grid.
  private static func check(
    _ grid: HEIFItems.Item, width: Int, height: Int, _ file: FileReader
  ) throws(ImagingError) {
    let data = try content(of: grid, file) ?? []
    var reader = HEIFReader(data[...])
    guard reader.integer(1) != nil, let flags = reader.integer(1), reader.integer(2) != nil,
      let gridWidth = reader.integer(flags & 1 == 0 ? 2 : 4), let gridHeight = reader.integer(flags & 1 == 0 ? 2 : 4)
    else { throw .heif("its grid is too short") }
    guard gridWidth == width, gridHeight == height else {
      throw .heif("its grid is of another size, \(gridWidth) × \(gridHeight)")
    }
  }

  // MARK: Metadata

  /// Checks that no metadata is where the picture is, what describes it, or other metadata: leaving it out would change them.
  private static func checkMetadata(
    _ items: HEIFItems, apartFrom boxes: [HEIFBox], of coded: [Range<Int64>]
  ) throws(ImagingError) {
    let metadata = items.items.values.filter(\.isMetadata).flatMap(\.extents).filter { !$0.isEmpty }
    guard !metadata.isEmpty else { return }
    var kept = coded.filter { !$0.isEmpty }
    for box in boxes where box.type == "ftyp" { kept.append(box.start..<box.end) }
    for box in boxes where box.type == "meta" {
      let data = items.itemData ?? box.end..<box.end
      kept += [box.start..<max(box.start, data.lowerBound), min(box.end, data.upperBound)..<box.end]
    }
    let all = kept.map { ($0, true) } + metadata.map { ($0, false) }
    var (keptEnd, metadataEnd) = (Int64(0), Int64(0))
    for (range, isKept) in all.sorted(by: { $0.0.lowerBound < $1.0.lowerBound }) where !range.isEmpty {
      guard range.lowerBound >= metadataEnd, isKept || range.lowerBound >= keptEnd else {
        throw .heif("metadata is where its picture or other metadata is")
      }
      if isKept { keptEnd = max(keptEnd, range.upperBound) } else { metadataEnd = max(metadataEnd, range.upperBound) }
    }
  }

  private static func metadata(
    _ primary: Int, _ item: HEIFItems.Item, _ items: HEIFItems, _ file: FileReader
  ) throws(ImagingError) -> Metadata {
    var metadata = Metadata()
    let colours = items.properties("colr", of: item)
    if let profile = colours.lazy.compactMap(profile).first ?? colours.lazy.compactMap(NCLXColour.init).first?.profile {
      metadata.append(.icc(profile))
    }
    for number in items.items.keys.sorted() {
      guard let item = items.items[number], item.isMetadata else { continue }
      let about = items.targets("cdsc", of: number)
      guard about.isEmpty || about.contains(primary), let bytes = try content(of: item, file) else { continue }
      if item.isXMP { metadata.append(.xmp(bytes)) }
      // The orientation of EXIF has no meaning here (ISO/IEC 23008-12 § A.2.1): the picture's own properties turn it.
      if item.type == "Exif", let exif = exif(in: bytes) { metadata.append(.exif(exif.oriented(.upright).bytes)) }
    }
    return metadata
  }

  private static func profile(_ colour: HEIFReader) -> [UInt8]? {
    var colour = colour
    guard let type = colour.text(4), type == "prof" || type == "rICC" else { return nil }
    return Array(colour.rest)
  }

  /// The data of an item of metadata; nil when there are too many, or when the file ends before they do.
  static func content(of item: HEIFItems.Item, _ file: FileReader) throws(ImagingError) -> [UInt8]? {
    var bytes: [UInt8] = []
    for extent in item.extents {
      guard extent.count <= ImageLimits.maxMetadataBytes - bytes.count else { return nil }
      let part = try file.bytes(extent.count, at: extent.lowerBound)
      guard part.count == extent.count else { return nil }
      bytes += part
    }
    return bytes
  }

  /// The EXIF stream in an item's data, after the number of bytes that are before it (ISO/IEC 23008-12 § A.2.1).
  static func exif(in bytes: [UInt8]) -> Exif? { exifOffset(in: bytes).flatMap { Exif(Array(bytes[$0...])) } }

  static func exifOffset(in bytes: [UInt8]) -> Int? {
    var reader = HEIFReader(bytes[...])
    guard let offset = reader.integer(4), offset <= bytes.count - 4 else { return nil }
    return 4 + offset
  }
}

extension HEIFItems.Item {
  var isXMP: Bool { type == "mime" && contentType == "application/rdf+xml" }
  /// Whether it says something about pictures, and is none.
  var isMetadata: Bool { ["Exif", "mime", "uri "].contains(type) }
}
