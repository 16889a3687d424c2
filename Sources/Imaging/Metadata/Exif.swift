/// A TIFF stream of EXIF tags (TIFF 6.0; CIPA DC-008 § 4.5). Only the first directory, the EXIF directory and the thumbnail
/// of the second directory are parsed.
struct Exif {
  /// `Exif` and two zeros, before the stream in JPEG segments (CIPA DC-008 § 4.5.4).
  static let identifier = Array("Exif\0\0".utf8)

  private(set) var bytes: [UInt8]
  private let isLittleEndian: Bool

  private enum Tag {
    static let imageWidth = 0x0100
    static let imageLength = 0x0101
    static let exifDirectory = 0x8769
    static let pixelXDimension = 0xA002
    static let pixelYDimension = 0xA003
    static let orientation = 0x0112
    static let artist = 0x013B
    static let copyright = 0x8298
    static let thumbnailOffset = 0x0201
    static let thumbnailLength = 0x0202
  }

  /// A field of a directory: its tag, type, count, and the offset of its four bytes of value or offset.
  private struct Field {
    let tag, type, count, valueOffset: Int
  }

  /// The largest number of fields in a directory.
  private static let maxFields = 1000

  /// Creates a stream; nil when its header is invalid.
  init?(_ bytes: [UInt8]) {
    if bytes.starts(with: [0x49, 0x49, 0x2A, 0]) {
      isLittleEndian = true
    } else if bytes.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
      isLittleEndian = false
    } else {
      return nil
    }
    self.bytes = bytes
  }

  /// The orientation; upright when the tag is missing or invalid.
  var orientation: Orientation {
    guard let field = directory(at: number(4, at: 4)).fields.first(where: { $0.tag == Tag.orientation }),
      field.type == 3, field.count == 1
    else { return .upright }
    return Orientation(rawValue: number(2, at: field.valueOffset) ?? 1) ?? .upright
  }

  /// The stream with another orientation, if it has one.
  func oriented(_ orientation: Orientation) -> Exif {
    var result = self
    for field in directory(at: number(4, at: 4)).fields where field.tag == Tag.orientation && field.type == 3 {
      result.bytes.replaceSubrange(
        field.valueOffset..<(field.valueOffset + 2), with: encoded(orientation.rawValue, 2))
    }
    return result
  }

  /// The stream for the processed picture: with upright orientation, the new size where the stream has one, and without the
  /// thumbnail, which shows the picture before processing.
  func upright(size: PictureSize) -> Exif {
    var result = oriented(.upright)
    let first = directory(at: number(4, at: 4))
    let pointer = first.fields.first { $0.tag == Tag.exifDirectory }
    for field in first.fields + directory(at: pointer.flatMap { number(4, at: $0.valueOffset) }).fields {
      switch field.tag {
      case Tag.imageWidth, Tag.pixelXDimension: result.set(field, to: size.width)
      case Tag.imageLength, Tag.pixelYDimension: result.set(field, to: size.height)
      default: break
      }
    }
    guard let next = first.next, let second = number(4, at: next), second != 0 else { return result }
    result.bytes.replaceSubrange(next..<(next + 4), with: [0, 0, 0, 0])
    let fields = directory(at: second).fields
    if let start = fields.first(where: { $0.tag == Tag.thumbnailOffset }).flatMap({ number(4, at: $0.valueOffset) }),
      let length = fields.first(where: { $0.tag == Tag.thumbnailLength }).flatMap({ number(4, at: $0.valueOffset) }),
      start >= 8, start < bytes.count
    {
      for index in start..<min(start + length, bytes.count) { result.bytes[index] = 0 }
    }
    return result
  }

  /// Sets a field to one 32-bit integer, which fits into its four bytes of value.
  private mutating func set(_ field: Field, to value: Int) {
    let typeCountValue = encoded(4, 2) + encoded(1, 4) + encoded(value, 4)
    bytes.replaceSubrange((field.valueOffset - 6)..<(field.valueOffset + 4), with: typeCountValue)
  }

  /// Whether the first directory has a field that can be read, and artist and copyright are no longer than the stream.
  var isReadable: Bool { !directory(at: number(4, at: 4)).fields.isEmpty && rights != nil }

  /// A stream with only the artist and the copyright; nil when there is neither, or the stream is not readable.
  func copyrightOnly() -> Exif? { rights.flatMap { Exif($0, isLittleEndian: isLittleEndian) } }

  /// A stream for a copy, whose pixels are not rotated: with the orientation, unless it is upright, and, if the policy keeps
  /// them, with the artist and the copyright. nil when there is nothing to keep.
  func reduced(to policy: MetadataPolicy) -> Exif? {
    guard policy != .all else { return self }
    let turned = orientation == .upright ? [] : [encoded(orientation.rawValue, 2)]
    return Exif(
      turned.map { (Tag.orientation, 3, $0) } + (policy == .copyright ? rights ?? [] : []),
      isLittleEndian: isLittleEndian)
  }

  /// The first artist and the first copyright, as tag, type and bytes. Any number of fields may point at the same bytes: nil when
  /// the values are longer than the stream.
  private var rights: [(tag: Int, type: Int, value: [UInt8])]? {
    let fields = directory(at: number(4, at: 4)).fields
    let values = [Tag.artist, Tag.copyright].compactMap { tag -> (tag: Int, type: Int, value: [UInt8])? in
      guard let text = fields.first(where: { $0.tag == tag && $0.type == 2 }).flatMap(text) else { return nil }
      return (tag, 2, text)
    }
    return values.reduce(0) { $0 + $1.value.count } <= bytes.count ? values : nil
  }

  /// Creates a stream of one directory; nil when it would be empty.
  /// - Parameter fields: Of the types ASCII and SHORT.
  private init?(_ fields: [(tag: Int, type: Int, value: [UInt8])], isLittleEndian: Bool) {
    guard !fields.isEmpty else { return nil }
    self.isLittleEndian = isLittleEndian
    bytes = isLittleEndian ? [0x49, 0x49, 0x2A, 0] : [0x4D, 0x4D, 0, 0x2A]
    bytes += encoded(8, 4) + encoded(fields.count, 2)
    var values: [UInt8] = []
    let valuesAt = 8 + 2 + 12 * fields.count + 4
    for (tag, type, value) in fields {
      bytes += encoded(tag, 2) + encoded(type, 2) + encoded(value.count / (type == 3 ? 2 : 1), 4)
      if value.count <= 4 {
        bytes += value + [UInt8](repeating: 0, count: 4 - value.count)
      } else {
        bytes += encoded(valuesAt + values.count, 4)
        values += value + (value.count % 2 == 1 ? [0] : [])
      }
    }
    bytes += [0, 0, 0, 0] + values
  }

  private func text(of field: Field) -> [UInt8]? {
    let start = field.count <= 4 ? field.valueOffset : number(4, at: field.valueOffset) ?? bytes.count
    guard field.count > 0, field.count <= bytes.count, start + field.count <= bytes.count else { return nil }
    return Array(bytes[start..<(start + field.count)])
  }

  /// The fields of the directory at an offset, as far as they are within the stream, and where the offset of the next directory
  /// is stored.
  private func directory(at offset: Int?) -> (fields: [Field], next: Int?) {
    guard let offset, offset >= 8, let count = number(2, at: offset), count <= Self.maxFields else { return ([], nil) }
    var fields: [Field] = []
    for index in 0..<count {
      let field = offset + 2 + 12 * index
      guard let tag = number(2, at: field), let type = number(2, at: field + 2), let length = number(4, at: field + 4),
        number(4, at: field + 8) != nil
      else { return (fields, nil) }
      fields.append(Field(tag: tag, type: type, count: length, valueOffset: field + 8))
    }
    let next = offset + 2 + 12 * count
    return (fields, number(4, at: next) == nil ? nil : next)
  }

  private func number(_ size: Int, at offset: Int) -> Int? {
    guard offset >= 0, offset <= bytes.count - size else { return nil }
    let digits = bytes[offset..<(offset + size)]
    return isLittleEndian ? digits.littleEndianInteger : digits.bigEndianInteger
  }

  private func encoded(_ value: Int, _ size: Int) -> [UInt8] {
    isLittleEndian ? [UInt8](littleEndian: value, count: size) : [UInt8](bigEndian: value, count: size)
  }
}
