/// A TIFF file (TIFF 6.0), also one with offsets of 64 bits (BigTIFF): its directories, read without libtiff and each checked
/// against the file's end.
struct TIFFFile {
  let isLittleEndian: Bool
  /// Whether counts and offsets have 64 bits.
  let isBig: Bool
  /// In bytes.
  let size: Int64
  /// The offset of the first directory.
  let first: Int64
  let file: FileReader
  private let budget = Budget()

  /// The numbers that may still be read of fields. Fields of many pages may share their values, so that a small file has more of
  /// them than can be read.
  private final class Budget {
    var numbers = 1 << 24
  }

  /// More fields of a directory, and more directories, are an attack.
  static let (maxFields, maxDirectories) = (65_535, 100_000)

  /// The fields among which those of the size are: they are in the order of their tags.
  private static let firstFields = 64

  /// Reads the header of a file.
  /// - Throws: `image-truncated`, `image-corrupt`, `io`, `cancelled`.
  init(_ file: FileReader) throws(ImagingError) {
    (self.file, size) = (file, try file.size())
    let head = try file.bytes(16, at: 0)
    guard head.count >= 8 else { throw .truncatedTIFF }
    isLittleEndian = head[0] == 0x49
    isBig = head[isLittleEndian ? 2 : 3] == 0x2B
    guard isBig else {
      first = Int64(Self.number(head[4..<8], isLittleEndian))
      return
    }
    guard head.count == 16 else { throw .truncatedTIFF }
    guard Self.number(head[4..<6], isLittleEndian) == 8, Self.number(head[6..<8], isLittleEndian) == 0 else {
      throw .tiff("its offsets do not have 64 bits")
    }
    first = Int64(Self.number(head[8..<16], isLittleEndian))
  }

  /// An unsigned integer; one that exceeds every file is cut off, so that sums do not overflow.
  func number(_ bytes: ArraySlice<UInt8>) -> Int { Self.number(bytes, isLittleEndian) }

  private static func number(_ bytes: ArraySlice<UInt8>, _ isLittleEndian: Bool) -> Int {
    let value = isLittleEndian ? bytes.littleEndianInteger : bytes.bigEndianInteger
    return value < 0 ? maxNumber : min(value, maxNumber)
  }

  private static let maxNumber = 1 << 56

  /// The unsigned integers that bytes consist of, cut off as above.
  /// - Parameter size: The bytes of each: 1, 2, 4 or 8.
  fileprivate func numbers(_ bytes: [UInt8], size: Int) -> [Int] {
    switch size {
    case 1: bytes.map(Int.init)
    case 2: numbers(bytes, of: UInt16.self)
    case 4: numbers(bytes, of: UInt32.self)
    default: numbers(bytes, of: UInt64.self)
    }
  }

  private func numbers<Value: FixedWidthInteger & UnsignedInteger>(_ bytes: [UInt8], of type: Value.Type) -> [Int] {
    bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: MemoryLayout<Value>.size).map { offset in
        let value = bytes.loadUnaligned(fromByteOffset: offset, as: type)
        return Int(
          min(UInt64(isLittleEndian ? Value(littleEndian: value) : Value(bigEndian: value)), UInt64(Self.maxNumber)))
      }
    }
  }

  /// The low bytes of an integer.
  func encoded(_ value: Int, _ count: Int) -> [UInt8] {
    isLittleEndian ? [UInt8](littleEndian: value, count: count) : [UInt8](bigEndian: value, count: count)
  }

  /// The bytes of a directory's number of fields.
  var countBytes: Int { isBig ? 8 : 2 }
  var fieldBytes: Int { isBig ? 20 : 12 }
  var offsetBytes: Int { isBig ? 8 : 4 }

  /// Reads bytes, all of which must be there.
  /// - Throws: `image-truncated`, `io`, `cancelled`.
  func bytes(_ range: Range<Int64>) throws(ImagingError) -> [UInt8] {
    guard range.upperBound <= size else { throw .truncatedTIFF }
    let bytes = try file.bytes(range.count, at: range.lowerBound)
    guard bytes.count == range.count else { throw .truncatedTIFF }
    return bytes
  }

  /// Takes numbers of fields from what may be read of the file.
  /// - Throws: `image-corrupt`.
  fileprivate func take(_ numbers: Int) throws(ImagingError) {
    guard numbers <= budget.numbers else { throw .tiff("its fields have more than \(1 << 24) numbers") }
    budget.numbers -= numbers
  }

  /// The place of a directory, from its number of fields to the offset of the next one.
  func place(ofDirectoryAt offset: Int64) throws(ImagingError) -> Range<Int64> {
    guard offset >= 8 else { throw .tiff("a directory is where its header is") }
    let count = number(try bytes(offset..<(offset + Int64(countBytes)))[...])
    guard count > 0 else { throw .tiff("a directory has no fields") }
    guard count <= Self.maxFields else { throw .tiff("a directory has more than \(Self.maxFields) fields") }
    let end = offset + Int64(countBytes + count * fieldBytes + offsetBytes)
    guard end <= size else { throw .truncatedTIFF }
    return offset..<end
  }

  /// The offset of the directory after the one at a place; 0 after the last one.
  func next(after place: Range<Int64>) throws(ImagingError) -> Int64 {
    Int64(number(try bytes((place.upperBound - Int64(offsetBytes))..<place.upperBound)[...]))
  }

  /// Reads the directory at an offset.
  /// - Throws: `image-truncated`, `image-corrupt`, `io`, `cancelled`.
  func directory(at offset: Int64) throws(ImagingError) -> TIFFDirectory {
    let place = try place(ofDirectoryAt: offset)
    return TIFFDirectory(try bytes(place), at: place, self)
  }

  /// The offsets of all directories of pages that can be read, in order.
  /// - Returns: And whether another one is said to follow.
  /// - Throws: `image-corrupt` when there are too many, `io`, `cancelled`.
  func pages() throws(ImagingError) -> (offsets: [Int64], areMissing: Bool) {
    var (offsets, seen, offset) = ([first], Set([first]), try next(after: try place(ofDirectoryAt: first)))
    while offset != 0 {
      guard offsets.count < Self.maxDirectories else { throw .tiff("it has more than \(Self.maxDirectories) pages") }
      guard seen.insert(offset).inserted, let place = try place(ofPageAt: offset) else { return (offsets, true) }
      offsets.append(offset)
      offset = try next(after: place)
    }
    return (offsets, false)
  }

  /// The place of the directory of a page; nil when none is there: it has at least a size.
  private func place(ofPageAt offset: Int64) throws(ImagingError) -> Range<Int64>? {
    do throws(ImagingError) {
      let place = try place(ofDirectoryAt: offset)
      let start = place.lowerBound + Int64(countBytes)
      let fields = try bytes(
        start..<min(place.upperBound - Int64(offsetBytes), start + Int64(Self.firstFields * fieldBytes)))
      let tags = stride(from: 0, to: fields.count, by: fieldBytes).map { number(fields[$0..<($0 + 2)]) }
      return tags.contains(TIFFTag.width) && tags.contains(TIFFTag.height) ? place : nil
    } catch {
      if error.code == .io || error.code == .cancelled { throw error }
      return nil
    }
  }
}

/// A directory of a TIFF file.
struct TIFFDirectory {
  /// A field of a directory.
  struct Field {
    let tag, type: Int
    /// The number of values.
    let count: Int
    /// Where its values are, which may be behind the file's end; empty for a type that is not known.
    let value: Range<Int64>
    /// Its bytes in the directory.
    let bytes: ArraySlice<UInt8>
    /// Whether its values are in the directory.
    let isInside: Bool
  }

  /// From the number of fields to the offset of the next directory.
  let place: Range<Int64>
  let fields: [Field]
  /// The offset of the next directory, as it is stored.
  let next: ArraySlice<UInt8>
  private let file: TIFFFile

  /// The bytes of a value of a type.
  static let sizes = [
    1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
  ]

  /// Whether values of a type are unsigned integers.
  static func isInteger(_ type: Int) -> Bool { [1, 3, 4, 13, 16, 18].contains(type) }

  /// - Parameter bytes: All of the directory.
  fileprivate init(_ bytes: [UInt8], at place: Range<Int64>, _ file: TIFFFile) {
    (self.place, self.file) = (place, file)
    let end = bytes.count - file.offsetBytes
    next = bytes[end...]
    fields = stride(from: file.countBytes, to: end, by: file.fieldBytes).map { start in
      let field = bytes[start..<(start + file.fieldBytes)]
      let (tag, type) = (file.number(field.prefix(2)), file.number(field.dropFirst(2).prefix(2)))
      let (count, last) = (file.number(field.dropFirst(4).prefix(file.offsetBytes)), field.suffix(file.offsetBytes))
      let (size, overflow) = count.multipliedReportingOverflow(by: Self.sizes[type] ?? 0)
      let isInside = !overflow && size <= file.offsetBytes
      let offset = isInside ? place.lowerBound + Int64(last.startIndex) : Int64(file.number(last))
      // A value of a size that no file has is behind the end of each.
      let value = offset..<(offset + (overflow ? Int64(1) << 60 : Int64(size)))
      return Field(tag: tag, type: type, count: count, value: value, bytes: field, isInside: isInside)
    }
  }

  /// The first field with a tag.
  subscript(_ tag: Int) -> Field? { fields.first { $0.tag == tag } }

  /// The unsigned integers of a field; nil without the field.
  /// - Parameter limit: How many are read at most.
  /// - Throws: `image-corrupt` when it has no integers, `image-truncated`, `io`, `cancelled`.
  func integers(_ tag: Int, limit: Int) throws(ImagingError) -> [Int]? {
    try self[tag].map { (field) throws(ImagingError) in try integers(of: field, limit: limit) }
  }

  /// The unsigned integers of a field.
  /// - Throws: as above.
  func integers(of field: Field, limit: Int) throws(ImagingError) -> [Int] {
    guard Self.isInteger(field.type), let size = Self.sizes[field.type], field.count > 0 else {
      throw .tiff("the field \(field.tag) has no numbers")
    }
    let (start, count) = (field.value.lowerBound, min(field.count, max(limit, 0)))
    try file.take(count)
    return file.numbers(try file.bytes(start..<(start + Int64(count * size))), size: size)
  }

  /// The first unsigned integer of a field; nil without the field.
  func integer(_ tag: Int) throws(ImagingError) -> Int? { try integers(tag, limit: 1)?.first }

  /// The bytes of a field's values; nil without the field, when there are more than `limit`, or when they are not in the file.
  func content(_ tag: Int, limit: Int = ImageLimits.maxMetadataBytes) throws(ImagingError) -> [UInt8]? {
    try self[tag].flatMap { (field) throws(ImagingError) in try content(of: field, limit: limit) }
  }

  /// The bytes of a field's values; nil when there are more than `limit`, or when they are not in the file.
  func content(of field: Field, limit: Int = ImageLimits.maxMetadataBytes) throws(ImagingError) -> [UInt8]? {
    guard field.value.count <= limit, !field.value.isEmpty, field.value.upperBound <= file.size else { return nil }
    return try file.bytes(field.value)
  }
}

extension ImagingError {
  static func tiff(_ what: String) -> ImagingError {
    ImagingError(code: .imageCorrupt, message: "the TIFF cannot be decoded: \(what)")
  }

  static func unsupportedTIFF(_ what: String) -> ImagingError {
    ImagingError(code: .unsupportedFormat, message: "the TIFF is of a kind that is not read: \(what)")
  }

  static let truncatedTIFF = ImagingError(code: .imageTruncated, message: "the TIFF ends before its picture does")
}
