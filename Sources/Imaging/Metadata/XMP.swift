/// XMP packets (ISO 16684-1).
enum XMP {
  /// The packet for the upright result of the given size: replaces the numbers in the orientation and size properties,
  /// which may be attributes or elements.
  static func upright(_ packet: [UInt8], size: PictureSize) -> [UInt8] {
    let numbers = [
      ("tiff:Orientation", 1), ("tiff:ImageWidth", size.width), ("tiff:ImageLength", size.height),
      ("exif:PixelXDimension", size.width), ("exif:PixelYDimension", size.height),
    ]
    return numbers.reduce(packet) { replacingNumbers(of: Array($1.0.utf8), in: $0, by: Array("\($1.1)".utf8)) }
  }

  /// Replaces the digits after each `name="` and `name>`.
  private static func replacingNumbers(of name: [UInt8], in packet: [UInt8], by digits: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = packet[...]
    while let byte = rest.first {
      guard byte == name[0], rest.starts(with: name) else {
        result.append(byte)
        rest = rest.dropFirst()
        continue
      }
      let opening = rest.dropFirst(name.count)
      // A quotation mark, in either form, or the end of a tag.
      let quoted = opening.first == 0x3D
      let value = opening.dropFirst(quoted ? 2 : 1)
      let end = value.firstIndex { !(0x30...0x39).contains($0) } ?? value.endIndex
      if quoted || opening.first == 0x3E, end > value.startIndex {
        result += rest[..<value.startIndex] + digits
        rest = rest[end...]
      } else {
        result += name
        rest = opening
      }
    }
    return result
  }
}
