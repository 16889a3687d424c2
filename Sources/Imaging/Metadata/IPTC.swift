/// IPTC data sets (IPTC-NAA IIM 4.2) as JPEG stores them: resource 0x0404 of a Photoshop segment.
enum IPTC {
  private static let resource: [UInt8] = Array("8BIM".utf8) + [0x04, 0x04]
  /// By-line, credit, copyright notice, of record 2.
  private static let rights: Set<UInt8> = [80, 110, 116]

  /// The data sets in the resources of a Photoshop segment; nil when there are none.
  static func dataSets(inResources bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var rest = bytes
    while rest.count >= 12, rest.starts(with: Array("8BIM".utf8)) {
      let hasDataSets = rest.starts(with: resource)
      rest = rest.dropFirst(6)
      // A Pascal string, padded to an even length.
      guard let nameLength = rest.first else { return nil }
      rest = rest.dropFirst((Int(nameLength) + 2) / 2 * 2)
      guard rest.count >= 4 else { return nil }
      let length = rest.prefix(4).bigEndianInteger
      rest = rest.dropFirst(4)
      guard length <= rest.count else { return nil }
      if hasDataSets { return Array(rest.prefix(length)) }
      rest = rest.dropFirst((length + 1) / 2 * 2)
    }
    return nil
  }

  /// The resources of a Photoshop segment with nothing but data sets.
  static func resources(_ dataSets: [UInt8]) -> [UInt8] {
    resource + [0, 0] + [UInt8](bigEndian: dataSets.count, count: 4) + dataSets + (dataSets.count % 2 == 1 ? [0] : [])
  }

  /// The data sets of by-line, credit and copyright, and the one with the character encoding; nil when there are none of
  /// the former.
  static func copyrightOnly(_ bytes: [UInt8]) -> [UInt8]? {
    var (rest, kept, hasRights) = (bytes[...], [UInt8](), false)
    while rest.count >= 5, rest.first == 0x1C {
      let head = Array(rest.prefix(5))
      let length = Int(head[3]) << 8 | Int(head[4])
      // Extended data sets, whose length field has a variable size, are not kept.
      guard length < 0x8000, rest.count >= 5 + length else { break }
      let isRight = head[1] == 2 && rights.contains(head[2])
      if isRight || head[1] == 1 && head[2] == 90 { kept += rest.prefix(5 + length) }
      hasRights = hasRights || isRight
      rest = rest.dropFirst(5 + length)
    }
    return hasRights ? kept : nil
  }
}
