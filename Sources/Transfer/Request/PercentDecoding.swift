extension String {
  /// The text with `%XX` replaced by bytes; malformed escapes stay, invalid UTF-8 is repaired.
  var percentDecoded: String {
    utf8.contains(UInt8(ascii: "%")) ? String(decoding: percentDecodedBytes, as: UTF8.self) : self
  }

  /// The same; nil when it is not UTF-8.
  var validPercentDecoded: String? {
    utf8.contains(UInt8(ascii: "%")) ? String(validating: percentDecodedBytes, as: UTF8.self) : self
  }

  private var percentDecodedBytes: [UInt8] {
    let source = Array(utf8)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count)
    var index = 0
    while index < source.count {
      if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
        let high = Character(UnicodeScalar(source[index + 1])).hexDigitValue,
        let low = Character(UnicodeScalar(source[index + 2])).hexDigitValue
      {
        bytes.append(UInt8(high << 4 | low))
        index += 3
      } else {
        bytes.append(source[index])
        index += 1
      }
    }
    return bytes
  }
}
