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
    /// IPTC data sets (IPTC-NAA IIM 4.2); JPEG only.
    case iptc([UInt8])
    /// A colour profile (ICC.1), not compressed.
    case icc([UInt8])
    /// What PNG says of its colours in a chunk of its own: `sRGB`, `gAMA` or `cHRM`; PNG only.
    case pngColour(name: [UInt8], bytes: [UInt8])
    /// How large pixels are meant to be.
    case density(PixelDensity)

    /// Whether a file can hold only one of both.
    fileprivate func excludes(_ other: Item) -> Bool {
      switch (self, other) {
      case (.exif, .exif), (.xmp, .xmp), (.iptc, .iptc), (.icc, .icc), (.density, .density): true
      case (.pngColour(let name, _), .pngColour(let other, _)): name == other
      default: false
      }
    }
  }

  /// The pieces.
  private(set) var items: [Item] = []
  private var size = 0

  /// Adds a piece, unless there is one that excludes it or the total would exceed `ImageLimits.maxMetadataBytes`.
  mutating func append(_ item: Item) {
    let count =
      switch item {
      case .exif(let bytes), .xmp(let bytes), .extendedXMP(let bytes), .iptc(let bytes), .icc(let bytes),
        .pngColour(_, let bytes):
        bytes.count
      case .density: 0
      }
    guard size + count <= ImageLimits.maxMetadataBytes, !items.contains(where: { $0.excludes(item) }) else { return }
    size += count
    items.append(item)
  }

  /// How the picture must be turned, as the first EXIF stream says.
  var orientation: Orientation {
    for case .exif(let bytes) in items { return Exif(bytes)?.orientation ?? .upright }
    return .upright
  }

  /// What a policy keeps for a picture that has been turned upright and has some size now.
  func kept(_ policy: MetadataPolicy, size: PictureSize) -> Metadata {
    var result = self
    result.items = items.compactMap { item in
      switch (item, policy) {
      case (.icc, _), (.pngColour, _), (.density, _): item
      case (_, .none): nil
      case (.exif(let bytes), .copyright): Exif(bytes)?.copyrightOnly().map { .exif($0.bytes) }
      case (.exif(let bytes), .all): Exif(bytes).map { .exif($0.upright(size: size).bytes) }
      case (.iptc(let dataSets), .copyright): IPTC.copyrightOnly(dataSets).map { .iptc($0) }
      case (.xmp, .copyright), (.extendedXMP, .copyright): nil
      case (.xmp(let packet), .all): .xmp(XMP.upright(packet, size: size))
      case (.extendedXMP, .all), (.iptc, .all): item
      }
    }
    return result
  }

  /// The same for a picture turned by a quarter.
  var turned: Metadata {
    var result = self
    result.items = items.map { item in
      if case .density(let density) = item { .density(density.turned) } else { item }
    }
    return result
  }

  /// How large pixels are meant to be; nil when the file did not say.
  var density: PixelDensity? {
    for case .density(let density) in items { return density }
    return nil
  }

  /// The same without some pieces.
  func removing(_ isUnwanted: (Item) -> Bool) -> Metadata {
    var result = self
    result.items.removeAll(where: isUnwanted)
    return result
  }

  /// The same without a colour profile that is for other pixels than a file's, grey or coloured, or that is none at all.
  func withoutMisfits(isGrey: Bool) -> Metadata {
    removing { item in
      guard case .icc(let profile) = item else { return false }
      // The colour space is at bytes 16…19 of the header, the signature at 36…39 (ICC.1:2022 § 7.2).
      return !profile.dropFirst(16).starts(with: (isGrey ? "GRAY" : "RGB ").utf8)
        || !profile.dropFirst(36).starts(with: "acsp".utf8)
    }
  }
}
