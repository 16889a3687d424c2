extension String {
  /// The text with `%XX` replaced by bytes; malformed escapes stay, invalid UTF-8 is repaired.
  var percentDecoded: String {
    guard utf8.contains(UInt8(ascii: "%")) else { return self }
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
    return String(decoding: bytes, as: UTF8.self)
  }
}
