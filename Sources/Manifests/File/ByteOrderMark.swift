/// The mark at the beginning of a text that tells its encoding.
enum ByteOrderMark: CaseIterable {
  case utf8, utf16LittleEndian, utf16BigEndian

  private var bytes: [UInt8] {
    switch self {
    case .utf8: [0xef, 0xbb, 0xbf]
    case .utf16LittleEndian: [0xff, 0xfe]
    case .utf16BigEndian: [0xfe, 0xff]
    }
  }

  /// In bytes.
  var length: Int { bytes.count }

  /// - Returns: nil when the text begins with none.
  init?(of text: UnsafeRawBufferPointer) {
    guard let mark = Self.allCases.first(where: { text.starts(with: $0.bytes) }) else { return nil }
    self = mark
  }
}
