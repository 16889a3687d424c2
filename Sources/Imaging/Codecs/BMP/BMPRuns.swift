/// The run-length encoded indices of a BMP (`BI_RLE4`, `BI_RLE8`), as spans within a row.
struct BMPRuns {
  /// Adjacent pixels of a row, cut off at its end.
  struct Span {
    /// From the lowest row.
    let row: Int
    let column: Int
    let count: Int
    /// An index for each pixel, or one or two that repeat.
    let indices: [UInt8]
  }

  private let size: PictureSize
  private let bits: Int
  private var reader: SequentialReader
  private var (row, column) = (0, 0)
  /// The pixels that no span has reached yet.
  private(set) var missing: Int
  private var isAtEnd = false

  init(_ file: FileReader, _ header: BMPHeader) {
    size = PictureSize(width: header.width, height: header.height)
    bits = header.bits
    reader = SequentialReader(file, at: header.pixelOffset)
    missing = header.width * header.height
  }

  /// The offset behind the last code.
  var offset: Int64 { reader.offset }

  /// The next span; nil at the end.
  /// - Throws: `image-corrupt` when there are more rows than the picture has, `image-truncated` when the file ends before the
  ///   picture is complete, `io`, `cancelled`.
  mutating func next() throws(ImagingError) -> Span? {
    while !isAtEnd {
      guard let code = try reader.next(2).map(Array.init) else { return try end() }
      if code[0] > 0 { return try span(of: Int(code[0]), unpacked(code[1...])) }
      switch code[1] {
      case 0: (row, column) = (row + 1, 0)
      case 1: isAtEnd = true
      case 2:
        guard let move = try reader.next(2).map(Array.init) else { return try end() }
        (row, column) = (row + Int(move[1]), column + Int(move[0]))
      case let count:
        let bytes = (Int(count) * bits + 7) / 8
        // To a multiple of 2 bytes.
        guard let literal = try reader.next((bytes + 1) / 2 * 2)?.prefix(bytes) else { return try end() }
        return try span(of: Int(count), unpacked(literal))
      }
    }
    return nil
  }

  /// The end of the file: the code for the end of the picture may be missing.
  private mutating func end() throws(ImagingError) -> Span? {
    guard missing == 0 else { throw .truncatedBMP }
    isAtEnd = true
    return nil
  }

  private func unpacked(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    bits == 8 ? Array(bytes) : bytes.flatMap { [$0 >> 4, $0 & 15] }
  }

  private mutating func span(of count: Int, _ indices: [UInt8]) throws(ImagingError) -> Span {
    guard row < size.height else { throw .bmp("its runs have more than \(size.height) rows") }
    let visible = max(min(count, size.width - column), 0)
    defer { column += count }
    missing -= visible
    return Span(row: row, column: column, count: visible, indices: indices)
  }
}
