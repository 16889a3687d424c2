/// XMP packets (ISO 16684-1).
enum XMP {
  /// The packet with `tiff:Orientation`, as an attribute or an element, changed to 1 where it is one digit; nothing else
  /// moves.
  static func upright(_ packet: [UInt8]) -> [UInt8] {
    var result = packet
    let name = Array("tiff:Orientation".utf8)
    var place = 0
    while place + name.count + 3 <= result.count {
      guard result[place] == name[0], result[place...].starts(with: name) else {
        place += 1
        continue
      }
      place += name.count
      let rest = result[place...].prefix(3)
      let digit = rest.starts(with: [0x3D]) ? place + 2 : place + 1
      if rest.first == 0x3D || rest.first == 0x3E, digit < result.count, (0x31...0x38).contains(result[digit]) {
        result[digit] = 0x31
      }
    }
    return result
  }
}
