/// A picture of a HEIF file that libheif decodes: coded, or a grid of coded ones (ISO/IEC 23008-12 § 6.6.2.3).
struct CodedPicture {
  let format: ImageFormat
  let size: PictureSize
  /// Its item, and those of the pictures that it is made of, each once.
  let items: [Int]
  /// Whether it is made of others.
  var isGrid: Bool { items.count > 1 }
  /// The pixels of the largest coded picture.
  let largestCodedPixels: Int
  /// The columns and rows of each coded picture.
  let codedSize: PictureSize
  /// The bits of a sample, and the chroma sampling; of a grid those of its first picture.
  let bits: Int
  let chroma: ChromaSampling
  /// Whether it has no chroma.
  let isGrey: Bool

  private static let codecs: [String: ImageFormat] = ["av01": .avif, "hvc1": .heic]

  /// - Throws: `image-corrupt`, `unsupported-format`, `image-too-large`, `io`, `cancelled`.
  init(_ number: Int, _ all: HEIFItems, _ limits: ImageLimits, _ file: FileReader) throws(ImagingError) {
    guard let item = all.items[number] else { throw .heif("a picture is missing") }
    size = try Self.size(item, all, limits)
    guard item.type == "grid" else {
      let format = try Self.format(of: item)
      (self.format, items, largestCodedPixels) = (format, [number], size.width * size.height)
      codedSize = size
      (bits, chroma, isGrey) = Self.configuration(item, all)
      try Self.checkMemory(size, bits)
      return
    }
    let references = all.targets("dimg", of: number)
    let (columns, rows) = try Self.check(item, of: references.count, size, file)
    // A picture may be in many places of the grid.
    var known = Set<Int>()
    let tiles = references.filter { known.insert($0).inserted }
    var (first, isGrey, tileSize) = (HEIFItems.Item?.none, true, PictureSize(width: 0, height: 0))
    for tile in tiles {
      guard let item = all.items[tile] else { throw .heif("a picture of its grid is missing") }
      _ = try Self.format(of: item)
      let size = try Self.size(item, all, limits)
      if first == nil { (first, tileSize) = (item, size) }
      // libheif puts each beside the last one, as it is after these transformations.
      guard size == tileSize, all.properties("clap", of: item).isEmpty,
        size.width == size.height || !Self.isTurned(item, all)
      else { throw .heif("the pictures of its grid are of different sizes, or cropped") }
      isGrey = isGrey && Self.configuration(item, all).isGrey
      try Self.checkMemory(size, 16)
    }
    guard let first else { throw .heif("its grid is empty") }
    // libheif would leave what no picture covers as it is in memory.
    guard tileSize.width * columns >= size.width, tileSize.height * rows >= size.height else {
      throw .heif("the pictures of its grid do not cover it")
    }
    (format, items) = (try Self.format(of: first), [number] + tiles)
    (codedSize, largestCodedPixels) = (tileSize, tileSize.width * tileSize.height)
    (bits, chroma, _) = Self.configuration(first, all)
    self.isGrey = isGrey
    try Self.checkMemory(size, bits)
  }

  /// Whether its columns become rows.
  private static func isTurned(_ item: HEIFItems.Item, _ all: HEIFItems) -> Bool {
    all.properties("irot", of: item).contains { $0.rest.first.map { $0 & 1 == 1 } ?? true }
  }

  private static func format(of item: HEIFItems.Item) throws(ImagingError) -> ImageFormat {
    guard let format = codecs[item.type] else {
      throw ImagingError(
        code: .unsupportedFormat, message: "the HEIF file has a picture of the kind \(item.type.debugDescription)")
    }
    return format
  }

  private static func size(
    _ item: HEIFItems.Item, _ all: HEIFItems, _ limits: ImageLimits
  ) throws(ImagingError) -> PictureSize {
    let sizes = all.properties("ispe", of: item)
    guard var spatial = sizes.first, sizes.count == 1, spatial.versionAndFlags() != nil,
      let width = spatial.integer(4), let height = spatial.integer(4)
    else { throw .heif("a picture does not have one size") }
    let size = PictureSize(width: width, height: height)
    try limits.check(size, of: .source)
    return size
  }

  /// Checks that libheif can hold a picture: it computes with 32 bits.
  static func checkMemory(_ size: PictureSize, _ bits: Int) throws(ImagingError) {
    guard (size.width + 64) * (size.height + 64) >= 1 << (bits > 8 ? 28 : 29) else { return }
    throw ImagingError(
      code: .imageTooLarge,
      message:
        "AVIF and HEIC of \(bits > 8 ? "more than 8" : "8") bits may have about \(bits > 8 ? 268 : 536) megapixels; "
        + "the picture has more: \(size.width) × \(size.height)")
  }

  /// Checks that the data of a grid say of it what its properties and references say: libheif goes by the data.
  /// - Returns: The pictures in a row and in a column.
  private static func check(
    _ grid: HEIFItems.Item, of count: Int, _ size: PictureSize, _ file: FileReader
  ) throws(ImagingError) -> (columns: Int, rows: Int) {
    let data = try HEIFContainer.content(of: grid, file) ?? []
    var reader = HEIFReader(data[...])
    guard reader.integer(1) != nil, let flags = reader.integer(1), let rows = reader.integer(1),
      let columns = reader.integer(1), let width = reader.integer(flags & 1 == 0 ? 2 : 4),
      let height = reader.integer(flags & 1 == 0 ? 2 : 4)
    else { throw .heif("its grid is too short") }
    guard PictureSize(width: width, height: height) == size, (rows + 1) * (columns + 1) == count else {
      throw .heif("its grid of \(rows + 1) × \(columns + 1) is for \(width) × \(height)")
    }
    return (columns + 1, rows + 1)
  }

  private static func configuration(
    _ item: HEIFItems.Item, _ all: HEIFItems
  ) -> (bits: Int, chroma: ChromaSampling, isGrey: Bool) {
    if let av1 = all.properties("av1C", of: item).first, let flags = av1.rest.dropFirst(2).first {
      let bits = flags & 0x40 == 0 ? 8 : flags & 0x20 == 0 ? 10 : 12
      let chroma = ChromaSampling(horizontal: flags & 8 == 0 ? 1 : 2, vertical: flags & 4 == 0 ? 1 : 2)
      let isGrey = flags & 0x10 != 0
      return (bits, isGrey ? .yuv420 : chroma, isGrey)
    }
    if let hevc = all.properties("hvcC", of: item).first, hevc.rest.count > 17 {
      let bytes = Array(hevc.rest.prefix(18))
      let chroma = [1: ChromaSampling.yuv420, 2: ChromaSampling(horizontal: 2, vertical: 1), 3: .yuv444]
      let number = Int(bytes[16] & 3)
      return (Int(bytes[17] & 7) + 8, chroma[number] ?? .yuv420, number == 0)
    }
    return (8, .yuv420, false)
  }
}
