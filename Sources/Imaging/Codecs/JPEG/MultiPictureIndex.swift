/// The index of a file of several JPEGs, one after another (CIPA DC-007 § 5.2), in a segment of the first.
enum MultiPictureIndex {
  static let identifier = Array("MPF\0".utf8)

  private static let pictureCountTag = 0xB001
  private static let longType = 4
  private static let fieldBytes = 12

  /// Whether a segment is an index.
  static func isHeld(in marker: Int, _ content: [UInt8]) -> Bool {
    marker == JPEGSegment.app2 && content.starts(with: identifier)
  }

  /// The number of pictures; nil when the index is invalid, or there are none.
  static func count(in content: [UInt8]) -> Int? {
    let index = content.dropFirst(identifier.count)
    let isLittleEndian = index.starts(with: [0x49, 0x49, 0x2A, 0])
    guard isLittleEndian || index.starts(with: [0x4D, 0x4D, 0, 0x2A]) else { return nil }
    func number(_ count: Int, at offset: Int) -> Int? {
      guard offset >= 0, offset <= index.count - count else { return nil }
      let bytes = index.dropFirst(offset).prefix(count)
      return isLittleEndian ? bytes.littleEndianInteger : bytes.bigEndianInteger
    }
    guard let directory = number(4, at: 4), let fields = number(2, at: directory) else { return nil }
    for field in 0..<fields {
      let start = directory + 2 + field * fieldBytes
      guard let tag = number(2, at: start), let type = number(2, at: start + 2), let count = number(4, at: start + 8)
      else { return nil }
      if tag == pictureCountTag { return type == longType && count > 0 ? count : nil }
    }
    return nil
  }
}
