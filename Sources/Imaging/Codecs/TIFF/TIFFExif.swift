/// Makes EXIF of what a directory of a TIFF file has of it: a stream of its own, in the byte order of the file.
enum TIFFExif {
  private typealias Field = (tag: Int, type: Int, count: Int, value: [UInt8])

  /// The most fields of a directory that are copied.
  private static let maxFields = 500
  private static let maxType = 13

  /// - Returns: nil when the directory has nothing of it.
  static func stream(of directory: TIFFDirectory, _ file: TIFFFile) throws(ImagingError) -> [UInt8]? {
    var left = ImageLimits.maxMetadataBytes
    // What is kept in any case comes first, whatever room other texts leave.
    let rights = [TIFFTag.artist, TIFFTag.copyright]
    var first = try orientation(of: directory, file).map { [$0] } ?? []
    first += try fields(of: directory, &left) { rights.contains($0) }
    first += try fields(of: directory, &left) { TIFFTag.texts.contains($0) && !rights.contains($0) }
    var others: [(tag: Int, fields: [Field])] = []
    for tag in [TIFFTag.exifDirectory, TIFFTag.gpsDirectory] {
      guard let other = try subdirectory(tag, of: directory, file) else { continue }
      let fields = try fields(of: other, &left) { $0 != TIFFTag.interoperabilityDirectory }
      if !fields.isEmpty { others.append((tag, fields)) }
    }
    guard !first.isEmpty || !others.isEmpty else { return nil }
    var offset = 8 + size(of: first) + 12 * others.count
    for other in others {
      first.append((other.tag, 4, 1, file.encoded(offset, 4)))
      offset += size(of: other.fields)
    }
    var bytes = file.isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D] + [UInt8]()
    bytes += file.encoded(42, 2) + file.encoded(8, 4)
    for fields in [first.sorted { $0.tag < $1.tag }] + others.map(\.fields) { append(fields, to: &bytes, file) }
    return bytes
  }

  /// The orientation as a number of 16 bits, as EXIF has it: some programs write one of 32.
  private static func orientation(of directory: TIFFDirectory, _ file: TIFFFile) throws(ImagingError) -> Field? {
    guard let field = directory[TIFFTag.orientation], TIFFDirectory.isInteger(field.type), field.count == 1,
      field.isInside, let number = try directory.integer(TIFFTag.orientation)
    else { return nil }
    return (TIFFTag.orientation, 3, 1, file.encoded(number, 2))
  }

  /// The directory that a field of another one points at; nil when it cannot be read.
  static func subdirectory(
    _ tag: Int, of directory: TIFFDirectory, _ file: TIFFFile
  ) throws(ImagingError) -> TIFFDirectory? {
    do throws(ImagingError) {
      return try directory.integer(tag).map { (offset) throws(ImagingError) in
        try file.directory(at: Int64(offset))
      }
    } catch {
      if error.code == .io || error.code == .cancelled { throw error }
      return nil
    }
  }

  private static func fields(
    of directory: TIFFDirectory, _ left: inout Int, where isCopied: (Int) -> Bool
  ) throws(ImagingError) -> [Field] {
    var (fields, seen) = ([Field](), Set<Int>())
    for field in directory.fields where isCopied(field.tag) && field.type <= maxType && fields.count < maxFields {
      guard seen.insert(field.tag).inserted, let value = try directory.content(of: field, limit: left) else { continue }
      left -= value.count
      fields.append((field.tag, field.type, field.count, value))
    }
    return fields.sorted { $0.tag < $1.tag }
  }

  /// The bytes of a directory and its values.
  private static func size(of fields: [Field]) -> Int {
    2 + 12 * fields.count + 4 + fields.reduce(0) { $0 + ($1.value.count > 4 ? ($1.value.count + 1) / 2 * 2 : 0) }
  }

  private static func append(_ fields: [Field], to bytes: inout [UInt8], _ file: TIFFFile) {
    let start = bytes.count + 2 + 12 * fields.count + 4
    var values: [UInt8] = []
    bytes += file.encoded(fields.count, 2)
    for field in fields {
      bytes += file.encoded(field.tag, 2) + file.encoded(field.type, 2) + file.encoded(field.count, 4)
      if field.value.count > 4 {
        bytes += file.encoded(start + values.count, 4)
        values += field.value + (field.value.count % 2 == 1 ? [0] : [])
      } else {
        bytes += field.value + [UInt8](repeating: 0, count: 4 - field.value.count)
      }
    }
    bytes += [0, 0, 0, 0] + values
  }
}
