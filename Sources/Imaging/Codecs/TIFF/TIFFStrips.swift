/// The strips or tiles of a picture in a TIFF file.
struct TIFFStrips {
  let isTiled: Bool
  /// The size of a strip or tile in pixels; the last strip may have fewer rows.
  let width, height: Int
  /// How many are beside each other, and one below the other.
  let columns, rows: Int
  /// The samples of which there are separate ones; one for all together.
  let planes: [Int]
  /// The bytes of a row of one, decoded.
  let rowBytes: Int
  /// Their compressed bytes in the file: those of a plane from left to right, then from above, plane after plane.
  let places: [Range<Int64>]
  /// The places of all strips or tiles in the file, also of planes that are not needed, and undivided.
  let stored: [Range<Int64>]
  /// Whether the file says how many bytes they have, or it follows from the picture. If not, the only one ends with the file.
  let hasSizes: Bool

  /// More of them are an attack.
  private static let limit = 1 << 20
  /// Uncompressed strips that are larger are divided, since each is held in memory.
  private static let uncompressedBytes = 64 << 10

  /// - Parameters:
  ///   - width: The picture's.
  ///   - height: The picture's.
  ///   - pixelBits: The bits of a pixel in one plane.
  ///   - planes: The planes that are needed.
  ///   - count: The number of planes in the file.
  ///   - isDivided: Whether large strips that are not compressed are divided. Default: true.
  init(
    _ directory: TIFFDirectory, _ file: TIFFFile, width: Int, height: Int, pixelBits: Int, planes: [Int],
    of count: Int, isCompressed: Bool, isDivided: Bool = true
  ) throws(ImagingError) {
    isTiled = directory[TIFFTag.tileWidth] != nil
    var sides = (width, min(try directory.integer(TIFFTag.rowsPerStrip) ?? height, height))
    if isTiled {
      guard let across = try directory.integer(TIFFTag.tileWidth), let down = try directory.integer(TIFFTag.tileLength)
      else { throw .tiff("it does not say the size of its tiles") }
      sides = (across, down)
    }
    guard sides.0 > 0, sides.1 > 0 else { throw .tiff("its strips have no pixels") }
    guard max(sides.0, sides.1) <= ImageLimits.maxSide else {
      throw ImagingError(code: .imageTooLarge, message: "a tile of the TIFF is \(sides.0) × \(sides.1)")
    }
    // Rows of tiles are put together byte by byte.
    guard !isTiled || sides.0 * pixelBits % 8 == 0 else { throw .tiff("its tiles are \(sides.0) pixels wide") }
    (self.width, self.planes) = (sides.0, planes)
    rowBytes = (sides.0 * pixelBits + 7) / 8
    columns = (width + sides.0 - 1) / sides.0
    let perPlane = columns * ((height + sides.1 - 1) / sides.1)
    guard perPlane <= Self.limit / count else { throw .tiff("it has \(perPlane) strips or tiles") }
    let (isTiled, rowBytes) = (isTiled, rowBytes)
    stored = try Self.places(directory, file, count: perPlane * count) { index in
      let left = height - index % perPlane * sides.1
      return isCompressed ? nil : rowBytes * (isTiled ? sides.1 : min(sides.1, left))
    }
    hasSizes = !isCompressed || directory[Self.sizeTag(directory)] != nil
    let stored = stored
    var places = planes.flatMap { stored[($0 * perPlane)..<(($0 + 1) * perPlane)] }
    var rowCount = sides.1
    // A file may claim a strip of any size, which would have as many parts.
    guard places.allSatisfy({ $0.upperBound <= file.size }) else { throw .truncatedTIFF }
    if !isTiled, !isCompressed, isDivided {
      let divided = Self.divided(rowCount, of: height, rowBytes)
      let size = Int64(divided * rowBytes)
      if divided < rowCount, planes.count * height / divided <= Self.limit {
        places = places.flatMap { place in
          stride(from: place.lowerBound, to: place.upperBound, by: Int(size)).map {
            $0..<min($0 + size, place.upperBound)
          }
        }
        rowCount = divided
      }
    }
    (self.height, self.places) = (rowCount, places)
    rows = (height + rowCount - 1) / rowCount
  }

  /// The rows of parts of a strip of that many rows, so that all parts but the last of the picture have as many.
  private static func divided(_ rows: Int, of height: Int, _ rowBytes: Int) -> Int {
    let most = max(uncompressedBytes / rowBytes, 1)
    guard rows > most else { return rows }
    // Of one strip, any number.
    guard rows < height else { return most }
    return (1...most).last { rows % $0 == 0 } ?? 1
  }

  /// - Parameter bytes: The bytes of one that is not compressed, whatever the file says.
  private static func places(
    _ directory: TIFFDirectory, _ file: TIFFFile, count: Int, bytes: (Int) -> Int?
  ) throws(ImagingError) -> [Range<Int64>] {
    // Some programs use the fields of strips for tiles.
    let tag = directory[TIFFTag.tileOffsets] == nil ? TIFFTag.stripOffsets : TIFFTag.tileOffsets
    guard let offsets = try directory.integers(tag, limit: count), offsets.count == count else {
      throw .tiff("it does not say where all its strips or tiles are")
    }
    if bytes(0) != nil { return offsets.enumerated().map { Int64($1)..<Int64($1 + (bytes($0) ?? 0)) } }
    // And some do not say the size of a single strip.
    let sizes = try directory.integers(sizeTag(directory), limit: count) ?? [max(Int(file.size) - offsets[0], 0)]
    guard sizes.count == count else { throw .tiff("it does not say the sizes of all its strips or tiles") }
    return zip(offsets, sizes).map { Int64($0)..<(Int64($0) + Int64($1)) }
  }

  /// The tag of the sizes of strips or tiles.
  private static func sizeTag(_ directory: TIFFDirectory) -> Int {
    directory[TIFFTag.tileByteCounts] == nil ? TIFFTag.stripByteCounts : TIFFTag.tileByteCounts
  }

  /// The bytes of a strip or tile, decoded; the last strips have fewer.
  var decodedBytes: Int { rowBytes * height }

  /// Whether rows are decoded one by one: those of strips with all samples.
  var isReadByRow: Bool { !isTiled && planes.count == 1 }

  /// The bytes of a row in all columns of one plane, decoded.
  var bandRowBytes: Int { columns * rowBytes }
}
