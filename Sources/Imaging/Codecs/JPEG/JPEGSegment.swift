/// The application segments with metadata of JPEG files: at most 65 533 bytes each, with an identifier.
enum JPEGSegment {
  /// The largest content of a segment in bytes.
  static let capacity = 65_533
  /// Marker codes (ITU-T T.81 table B.1).
  static let app0 = 0xE0
  static let app1 = 0xE1
  static let app2 = 0xE2
  static let app13 = 0xED

  /// ITU-T T.871 § 10.1; two bytes of version, the density's unit, and twice two bytes of density follow.
  static let jfifIdentifier = Array("JFIF\0".utf8)

  /// XMP specification, part 3, § 1.1.3.
  static let xmpIdentifier = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
  /// XMP specification, part 3, § 1.1.3.1.
  static let extendedXMPIdentifier = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
  /// Adobe Photoshop TIFF technical notes; image resources follow.
  static let photoshopIdentifier = Array("Photoshop 3.0\0".utf8)
  /// ICC.1:2022 annex B.4; the number of the part, from 1, and the number of parts follow.
  static let iccIdentifier = Array("ICC_PROFILE\0".utf8)

  /// The segments for an item, as marker code and content; none when it does not fit. Of EXIF that does not fit, artist and
  /// copyright are kept. The density is not among them: libjpeg writes the JFIF segment.
  static func segments(of item: Metadata.Item) -> [(marker: Int, content: [UInt8])] {
    switch item {
    case .exif(let bytes): exifSegments(bytes)
    case .xmp(let bytes): fitting(xmpIdentifier + bytes)
    case .extendedXMP(let content): fitting(content)
    case .iptc(let dataSets): fitting(photoshopIdentifier + IPTC.resources(dataSets), marker: app13)
    case .icc(let profile): iccSegments(profile)
    case .pngColour, .density: []
    }
  }

  private static func exifSegments(_ bytes: [UInt8]) -> [(marker: Int, content: [UInt8])] {
    let whole = fitting(Exif.identifier + bytes)
    guard whole.isEmpty, let rights = Exif(bytes)?.copyrightOnly() else { return whole }
    return fitting(Exif.identifier + rights.bytes)
  }

  /// The density in a JFIF segment; nil when it has none.
  static func density(inJFIF content: [UInt8]) -> PixelDensity? {
    guard content.starts(with: jfifIdentifier), content.count >= 12 else { return nil }
    let units: [UInt8: PixelDensity.Unit] = [0: .none, 1: .inch, 2: .centimetre]
    guard let unit = units[content[7]] else { return nil }
    return PixelDensity(
      horizontal: content[8...9].bigEndianInteger, vertical: content[10...11].bigEndianInteger, unit: unit)
  }

  private static func fitting(_ content: [UInt8], marker: Int = app1) -> [(marker: Int, content: [UInt8])] {
    content.count <= capacity ? [(marker, content)] : []
  }

  private static func iccSegments(_ profile: [UInt8]) -> [(marker: Int, content: [UInt8])] {
    let room = capacity - iccIdentifier.count - 2
    let count = (profile.count + room - 1) / room
    guard count <= 255 else { return [] }
    return (0..<count).map { part in
      let bytes = profile[(part * room)..<min((part + 1) * room, profile.count)]
      return (app2, iccIdentifier + [UInt8(part + 1), UInt8(count)] + bytes)
    }
  }
}
