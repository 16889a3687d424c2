/// What a picture's file says besides its pixels, independent of the format, in the order of the source.
struct Metadata: Sendable, Equatable {
  /// One piece.
  enum Item: Sendable, Equatable {
    /// A TIFF stream of EXIF tags (CIPA DC-008), without the identifier that JPEG puts before it.
    case exif([UInt8])
    /// An XMP packet (ISO 16684-1).
    case xmp([UInt8])
    /// A part of an extended XMP packet as a JPEG segment holds it, with its identifier; JPEG only.
    case extendedXMP([UInt8])
    /// A colour profile (ICC.1), not compressed.
    case icc([UInt8])
    /// What PNG says of its colours in a chunk of its own: `sRGB`, `gAMA` or `cHRM`; PNG only.
    case pngColour(name: [UInt8], bytes: [UInt8])
  }

  /// The pieces.
  private(set) var items: [Item] = []
  private var size = 0

  /// Adds a piece, unless the total would exceed `ImageLimits.maxMetadataBytes`.
  mutating func append(_ item: Item) {
    let count =
      switch item {
      case .exif(let bytes), .xmp(let bytes), .extendedXMP(let bytes), .icc(let bytes), .pngColour(_, let bytes):
        bytes.count
      }
    guard size + count <= ImageLimits.maxMetadataBytes else { return }
    size += count
    items.append(item)
  }

  /// The same without colour profiles of grey pictures, which do not describe a picture that became coloured.
  func withoutGreyProfiles() -> Metadata {
    var result = self
    result.items.removeAll { item in
      guard case .icc(let profile) = item else { return false }
      // The colour space is at bytes 16…19 of the header (ICC.1:2022 § 7.2).
      return profile.dropFirst(16).starts(with: "GRAY".utf8)
    }
    return result
  }
}
