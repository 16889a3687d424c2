/// The contents of a HEIF file (ISO/IEC 23008-12), which AVIF and HEIC are: its primary picture, read from its boxes without
/// libheif.
struct HEIFContainer {
  let format: ImageFormat
  /// The size of the picture after its transformations.
  let width, height: Int
  /// The bits of a sample, and of one of alpha: the same without alpha.
  let bits, alphaBits: Int
  let hasAlpha: Bool
  /// Whether it has no chroma, and no profile for colours.
  let isGrey: Bool
  let chroma: ChromaSampling
  let metadata: Metadata
  /// The pixels of the picture before its transformations, and of the largest one that it is made of.
  let pixels, largestCodedPixels: Int
  /// The least columns and rows of those that it is made of.
  let smallestCodedSize: PictureSize
  /// The bytes of all items. A grid of cells that are the same may have their data once: more than twice the file's is read of small
  /// files only.
  let dataBytes: Int
  let items: HEIFItems
  /// The boxes of the file, in its order.
  let boxes: [HEIFBox]

  /// Boxes that make up pictures.
  static let pictureBoxes: Set = ["ftyp", "meta", "mdat", "moov"]

  /// More boxes in a file are an attack.
  private static let maxBoxes = 256
  /// The largest `meta` box: that of a grid of 20 000 pictures.
  private static let maxMetaBytes = 4 << 20

  /// Reads the boxes of a file.
  /// - Throws: `image-truncated`, `image-corrupt`, `unsupported-format`, `image-too-large`, `image-too-small`, `io`, `cancelled`.
  init(_ file: FileReader, limits: ImageLimits, readsMetadata: Bool = true) throws(ImagingError) {
    let size = try file.size()
    let boxes = try Self.boxes(file, size)
    let items = try Self.items(file, boxes)
    guard let number = items.primary, let item = items.items[number] else { throw .heif("it has no primary picture") }
    let picture = try CodedPicture(number, items, limits, file)
    let alpha = try Self.alpha(of: number, items)
    let coded = try alpha.map { (number) throws(ImagingError) in try CodedPicture(number, items, limits, file) }
    guard coded == nil || coded?.size == picture.size else { throw .heif("its alpha is of another size") }
    // libheif is told one least size for the pictures of both.
    guard coded.map({ $0.isGrid && picture.isGrid && $0.codedSize != picture.codedSize }) != true else {
      throw .heif("the grid of its alpha is of other pictures")
    }
    let visible = try Self.visibleSize(picture.size, item, items)
    try limits.check(width: visible.width, height: visible.height)
    // Each item once: a grid may refer to one of many extents very often.
    let pictures = Set(picture.items).union(coded?.items ?? []).sorted()
    let extents = pictures.flatMap { items.items[$0]?.extents ?? [] }
    dataBytes = try Self.checkExtents(items, of: extents, boxes, size)
    (self.boxes, self.items, hasAlpha) = (boxes, items, alpha != nil)
    (format, bits, chroma) = (picture.format, picture.bits, picture.chroma)
    alphaBits = coded?.bits ?? picture.bits
    (width, height, pixels) = (visible.width, visible.height, picture.size.width * picture.size.height)
    largestCodedPixels = max(picture.largestCodedPixels, coded?.largestCodedPixels ?? 0)
    smallestCodedSize = picture.codedSize.common(coded?.codedSize ?? picture.codedSize)
    metadata = readsMetadata ? try Self.metadata(number, picture.items, items, file) : Metadata()
    isGrey = picture.isGrey && (metadata.colour == .sRGB || metadata.hasGreyProfile)
  }

  private static func boxes(_ file: FileReader, _ size: Int64) throws(ImagingError) -> [HEIFBox] {
    var (boxes, offset) = ([HEIFBox](), Int64(0))
    while offset < size, boxes.count < maxBoxes {
      let head = try file.bytes(16, at: offset)
      // What follows the picture may be anything.
      guard let box = try? HEIFBox(head[...], at: offset, before: size) else { break }
      // A `meta` box that ends behind the file is an error where it is read.
      boxes.append(box.type == "meta" ? box : box.clamped(to: size))
      offset = box.end
    }
    return boxes
  }

  private static func items(_ file: FileReader, _ boxes: [HEIFBox]) throws(ImagingError) -> HEIFItems {
    let found = boxes.filter { $0.type == "meta" }
    guard let meta = found.first else {
      guard boxes.contains(where: { $0.type == "moov" }) else { throw .truncatedHEIF }
      throw ImagingError(code: .unsupportedFormat, message: "the HEIF file is a film without a picture")
    }
    guard found.count == 1 else { throw .heif("it has two boxes meta") }
    let count = meta.end - meta.content
    guard count <= maxMetaBytes else { throw .heif("the box meta has \(count) bytes") }
    let bytes = try file.bytes(Int(count), at: meta.content)
    guard bytes.count == count else { throw .truncatedHEIF }
    var reader = HEIFReader(bytes[...])
    guard reader.versionAndFlags() != nil else { throw .heif("the box meta is too short") }
    return try HEIFItems(reader, at: meta.content)
  }

  /// The size after cropping and turning.
  private static func visibleSize(
    _ coded: PictureSize, _ item: HEIFItems.Item, _ items: HEIFItems
  ) throws(ImagingError) -> PictureSize {
    var size = coded
    for (type, content) in items.properties(of: item) {
      var content = content
      switch type {
      case "irot":
        if let turns = content.integer(1), turns & 1 == 1 { size = size.transposed }
      case "clap": size = try CleanAperture(content).size(in: size)
      default: break
      }
    }
    return size
  }

  /// The item with the alpha of the primary picture; nil without one.
  /// - Throws: `image-corrupt` when there are several, or when another picture has one: libheif would decode that, too.
  private static func alpha(of primary: Int, _ items: HEIFItems) throws(ImagingError) -> Int? {
    var found: Int?
    for (number, targets) in items.references("auxl") where isAlpha(number, items) {
      guard targets == [primary], found == nil else { throw .heif("it has alpha of something else than its picture") }
      found = number
    }
    return found
  }

  /// Whether an item is alpha (ISO/IEC 23008-12 § 7.2.2.1, ISO/IEC 23091-2).
  private static func isAlpha(_ number: Int, _ items: HEIFItems) -> Bool {
    guard let item = items.items[number] else { return false }
    return items.properties("auxC", of: item).contains { kind in
      var kind = kind
      // Many items may have one property, whose text may be long.
      guard kind.versionAndFlags() != nil else { return false }
      return alphaKinds.contains {
        kind.rest.starts(with: $0) && [nil, 0].contains(kind.rest.dropFirst($0.count).first)
      }
    }
  }

  private static let alphaKinds = ["urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", "urn:mpeg:hevc:2015:auxid:1"]
    .map { Array($0.utf8) }

  // MARK: Places

  /// Checks where the data of items are: all in boxes for data, within the file, and no metadata where the picture is, what
  /// describes it, or other metadata, since leaving it out would change them.
  /// - Parameter coded: The places of the picture's data.
  /// - Returns: The bytes of all items, which libheif holds in memory.
  private static func checkExtents(
    _ items: HEIFItems, of coded: [Range<Int64>], _ boxes: [HEIFBox], _ size: Int64
  ) throws(ImagingError) -> Int {
    let all = items.items.values.flatMap(\.extents)
    guard all.allSatisfy({ $0.upperBound <= size }) else { throw .truncatedHEIF }
    let places = boxes.filter { $0.type == "mdat" }.map { $0.content..<$0.end } + (items.itemData.map { [$0] } ?? [])
    // `Range.contains` accepts an empty range anywhere, and a copy ends with the last box that makes up pictures.
    let end = boxes.last { pictureBoxes.contains($0.type) }?.end ?? 0
    guard all.allSatisfy({ extent in places.contains { $0.contains(extent) } && extent.upperBound <= end }) else {
      throw .heif("an item is in no box for data")
    }
    let bytes = try dataBytes(of: all, in: places)
    var kept = coded
    for box in boxes where ["ftyp", "meta"].contains(box.type) {
      let data = items.itemData.flatMap { box.type == "meta" ? $0 : nil } ?? box.end..<box.end
      kept += [box.start..<data.lowerBound, data.upperBound..<box.end]
    }
    let metadata = items.items.values.filter(\.isMetadata).flatMap(\.extents)
    let ranges = (kept.map { ($0, true) } + metadata.map { ($0, false) }).filter { !$0.0.isEmpty }
    var (keptEnd, metadataEnd) = (Int64(0), Int64(0))
    for (range, isKept) in ranges.sorted(by: { $0.0.lowerBound < $1.0.lowerBound }) {
      guard range.lowerBound >= metadataEnd, isKept || range.lowerBound >= keptEnd else {
        throw .heif("metadata is where its picture or other metadata is")
      }
      if isKept { keptEnd = max(keptEnd, range.upperBound) } else { metadataEnd = range.upperBound }
    }
    return bytes
  }

  /// The bytes of all items.
  /// - Parameter places: Within the file, and none in another: no sum of their sizes overflows.
  private static func dataBytes(
    of extents: [Range<Int64>], in places: [Range<Int64>]
  ) throws(ImagingError) -> Int {
    let most = max(2 * places.reduce(0) { $0 + $1.count }, 1 << 20)
    var bytes = 0
    for extent in extents {
      guard extent.count <= most - bytes else { throw .heif("its items share their data") }
      bytes += extent.count
    }
    return bytes
  }

  // MARK: Metadata

  /// - Parameter pictures: The primary picture, and those that it is made of.
  private static func metadata(
    _ primary: Int, _ pictures: [Int], _ items: HEIFItems, _ file: FileReader
  ) throws(ImagingError) -> Metadata {
    var metadata = Metadata()
    // A grid may leave its colours to the pictures that it is made of.
    let colours = pictures.prefix(2).lazy.compactMap { items.items[$0] }.map { items.properties("colr", of: $0) }
    let own = colours.first { !$0.isEmpty } ?? []
    if let profile = own.lazy.compactMap(profile).first {
      metadata.append(.icc(profile))
    } else {
      var numbers = own.lazy.compactMap(CICPColour.init).first
      if numbers == nil { numbers = try codedColour(of: pictures, items, file) }
      if let profile = numbers?.profile { metadata.append(.icc(profile)) }
    }
    for (number, item) in items.items.sorted(by: { $0.key < $1.key }) where item.type == "Exif" || item.isXMP {
      let about = items.targets("cdsc", of: number)
      guard about.isEmpty || about.contains(primary), let bytes = try content(of: item, file) else { continue }
      if item.isXMP { metadata.append(.xmp(bytes)) }
      // The orientation of EXIF has no meaning here (ISO/IEC 23008-12 § A.2.1): the picture's own properties turn it.
      if item.type == "Exif", let exif = exif(in: bytes) { metadata.append(.exif(exif.oriented(.upright).bytes)) }
    }
    return metadata
  }

  /// The colours that AV1 says of the first coded picture: those of a file without a colour box.
  private static func codedColour(
    of pictures: [Int], _ items: HEIFItems, _ file: FileReader
  ) throws(ImagingError) -> CICPColour? {
    let first = pictures.prefix(2).lazy.compactMap { items.items[$0] }.first { $0.type == "av01" }
    guard let place = first?.extents.first else { return nil }
    let bytes = try file.bytes(min(place.count, AV1SequenceHeader.searchedBytes), at: place.lowerBound)
    return AV1SequenceHeader(bytes)?.colour
  }

  private static func profile(_ colour: HEIFReader) -> [UInt8]? {
    var colour = colour
    guard let type = colour.text(4), type == "prof" || type == "rICC" else { return nil }
    return Array(colour.rest)
  }

  /// The data of an item of metadata, or of a grid; nil when there are too many.
  static func content(of item: HEIFItems.Item, _ file: FileReader) throws(ImagingError) -> [UInt8]? {
    var bytes: [UInt8] = []
    for extent in item.extents {
      guard extent.count <= ImageLimits.maxMetadataBytes - bytes.count else { return nil }
      bytes += try file.bytes(extent.count, at: extent.lowerBound)
    }
    return bytes
  }

  /// The EXIF stream in an item's data, after the number of bytes that are before it (ISO/IEC 23008-12 § A.2.1).
  static func exif(in bytes: [UInt8]) -> Exif? {
    var reader = HEIFReader(bytes[...])
    guard let offset = reader.integer(4), reader.bytes(offset) != nil else { return nil }
    return Exif(Array(reader.rest))
  }
}

extension HEIFItems.Item {
  var isXMP: Bool { type == "mime" && contentType == "application/rdf+xml" }
  /// Whether it is no picture.
  var isMetadata: Bool { !Self.pictureTypes.contains(type) }

  private static let pictureTypes: Set = [
    "hvc1", "av01", "grid", "iden", "iovl", "tmap", "jpeg", "avc1", "j2k1", "vvc1", "unci",
  ]
}
