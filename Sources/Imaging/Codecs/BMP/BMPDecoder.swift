/// Decodes BMP, without a library: all depths, run-length encoded or not, with masks and alpha.
final class BMPDecoder: RowDecoder {
  let info: ImageInfo
  let layout: PixelLayout
  let chroma = ChromaSampling.yuv444
  let metadata: Metadata

  private let file: FileReader
  private let header: BMPHeader
  private let packed: PackedRow
  /// The pixels of a run-length encoded picture.
  private var picture: PackedPicture?
  private var band: Band
  private var nextRow = 0
  private var accepted: AcceptedDamage
  /// The rows that the file has, from the first stored one on.
  private var storedRows: Int

  /// Rows that are read from the file at once.
  private struct Band {
    var rows = 0..<0
    var bytes: [UInt8] = []
  }

  /// The number of bytes that are read at a time, or a row.
  private static let bandBytes = 64 << 10

  init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) {
    file = FileReader(descriptor)
    accepted = AcceptedDamage(limits.damaged)
    header = try BMPHeader(file, limits: limits)
    info = ImageInfo(format: .bmp, width: header.width, height: header.height)
    do throws(ImagingError) {
      layout = PixelLayout(isGrey: false, hasAlpha: try Self.hasAlpha(header, file), is16Bit: false)
    } catch {
      if error.code == .io { throw error }
      // Damage is found when the pixels are decoded.
      layout = PixelLayout(isGrey: false, hasAlpha: true, is16Bit: false)
    }
    packed = PackedRow(width: info.width, layout: layout)
    band = Band()
    storedRows = header.height
    var metadata = Metadata()
    if let range = header.profile {
      let profile = try file.bytes(range.count, at: range.lowerBound)
      if profile.count == range.count { metadata.append(.icc(profile)) }
    }
    if let density = header.density { metadata.append(.density(density)) }
    self.metadata = metadata
  }

  var hasFewColours: Bool { !header.pixels.isEmpty }

  /// The pixels of a run-length encoded picture, whose rows may come in any distance.
  var wholePictureBytes: Int {
    guard case .runs = header.storage else { return 0 }
    return PackedPicture.bytes(width: info.width, height: info.height, layout: layout)
  }

  var damage: PictureDamage? { accepted.damage }

  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    guard case .runs = header.storage else { return try checkEnd() }
    let picture = try PackedPicture(width: info.width, height: info.height, layout: layout)
    self.picture = picture
    var (runs, count, lastRow) = (BMPRuns(file, header), 0, 0)
    while let span = try next(of: &runs, after: lastRow) {
      (count, lastRow) = (count + 1, span.row)
      if count % 4096 == 0, isCancelled() { throw .cancelled }
      let row = picture.row(header.isTopDown ? span.row : info.height - 1 - span.row)
      for index in 0..<span.count {
        let pixel = header.pixels[Int(span.indices[index % span.indices.count])]
        row.storeBytes(of: pixel, toByteOffset: 4 * (span.column + index), as: UInt32.self)
      }
    }
  }

  /// The next span; nil at the end, and at damage that is accepted.
  private func next(of runs: inout BMPRuns, after row: Int) throws(ImagingError) -> BMPRuns.Span? {
    do throws(ImagingError) {
      return try runs.next()
    } catch {
      try accepted.end(with: error, hasRows: row > 0, .rows(row, of: info.height))
      return nil
    }
  }

  /// Finds the rows that the file has when it may be cut off.
  private func checkEnd() throws(ImagingError) {
    guard accepted.isPossible else { return }
    // The padding of the last row may be missing.
    let padding = header.rowBytes - (header.width * header.bits + 7) / 8
    let stored = (try file.size() - header.pixelOffset + Int64(padding)) / Int64(header.rowBytes)
    guard stored < header.height else { return }
    storedRows = max(Int(stored), 0)
    try accepted.end(with: .truncatedBMP, hasRows: storedRows > 0, .rows(storedRows, of: header.height))
  }

  func read(into row: PixelRow) throws(ImagingError) {
    defer { nextRow += 1 }
    if let picture {
      picture.copyRow(nextRow, to: packed.bytes)
    } else {
      let stored = header.isTopDown ? nextRow : info.height - 1 - nextRow
      guard stored < storedRows else {
        packed.clear()
        return row.unpack(packed)
      }
      if !band.rows.contains(stored) {
        band = try Self.band(with: stored, isFirst: header.isTopDown, of: storedRows, header, file)
      }
      expand((stored - band.rows.lowerBound) * header.rowBytes)
    }
    row.unpack(packed)
  }

  /// The end of the last row has been read.
  func finish() throws(ImagingError) {}

  /// Reads some rows in the order of the file, of which one is the first or the last.
  private static func band(
    with row: Int, isFirst: Bool, of height: Int, _ header: BMPHeader, _ file: FileReader
  ) throws(ImagingError) -> Band {
    let count = max(bandBytes / header.rowBytes, 1)
    let first = isFirst ? row : max(row - count + 1, 0)
    let rows = first..<min(first + count, height)
    let needed = (rows.count - 1) * header.rowBytes + (header.width * header.bits + 7) / 8
    var bytes = try file.bytes(
      rows.count * header.rowBytes, at: header.pixelOffset + Int64(first) * Int64(header.rowBytes))
    guard bytes.count >= needed else { throw .truncatedBMP }
    // The padding of the last row may be missing.
    bytes += [UInt8](repeating: 0, count: rows.count * header.rowBytes - bytes.count)
    return Band(rows: rows, bytes: bytes)
  }

  /// Converts a row that begins at an offset in the band.
  private func expand(_ start: Int) {
    let target = packed.bytes
    band.bytes.withUnsafeBytes { bytes in
      let row = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + header.rowBytes)])
      switch header.storage {
      case .indices(8), .runs:
        for column in 0..<info.width {
          target.storeBytes(of: header.pixels[Int(row[column])], toByteOffset: 4 * column, as: UInt32.self)
        }
      case .indices(let bits):
        for column in 0..<info.width {
          let place = column * bits
          let index = Int(row[place / 8]) >> (8 - bits - place % 8) & (1 << bits - 1)
          target.storeBytes(of: header.pixels[index], toByteOffset: 4 * column, as: UInt32.self)
        }
      case .numbers(24, _):
        for column in 0..<info.width {
          let pixel = UInt32(row[3 * column + 2]) | UInt32(row[3 * column + 1]) << 8 | UInt32(row[3 * column]) << 16
          target.storeBytes(of: pixel | 0xFF00_0000, toByteOffset: 4 * column, as: UInt32.self)
        }
      case .numbers(let bits, let masks):
        for column in 0..<info.width {
          let number = Self.number(row, column, bits)
          let alpha = layout.hasAlpha ? masks[3].value(in: number) : 255
          let pixel = masks[0].value(in: number) | masks[1].value(in: number) << 8 | masks[2].value(in: number) << 16
          target.storeBytes(of: pixel | alpha << 24, toByteOffset: 4 * column, as: UInt32.self)
        }
      }
    }
  }

  /// A number of 16 or 32 bits.
  @inline(__always)
  private static func number(_ row: UnsafeRawBufferPointer, _ column: Int, _ bits: Int) -> Int {
    bits == 16
      ? Int(UInt16(littleEndian: row.loadUnaligned(fromByteOffset: 2 * column, as: UInt16.self)))
      : Int(UInt32(littleEndian: row.loadUnaligned(fromByteOffset: 4 * column, as: UInt32.self)))
  }

  /// Whether a picture can have pixels that are not opaque: those that no run reaches, or any when a header has a mask for alpha.
  /// Alpha that is 0 everywhere counts, as in browsers.
  private static func hasAlpha(_ header: BMPHeader, _ file: FileReader) throws(ImagingError) -> Bool {
    guard case .runs = header.storage else { return header.hasAlphaBits }
    var runs = BMPRuns(file, header)
    while try runs.next() != nil {}
    return runs.missing > 0
  }
}
