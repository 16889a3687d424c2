/// The metadata of a picture's file, independent of its format, in the order of the file.
struct Metadata: Sendable, Equatable {
  /// One piece of metadata.
  enum Item: Sendable, Equatable {
    /// A TIFF stream of EXIF tags (CIPA DC-008), without JPEG's identifier.
    case exif([UInt8])
    /// An XMP packet (ISO 16684-1).
    case xmp([UInt8])
    /// A part of an extended XMP packet as in a JPEG segment, with its identifier; JPEG only.
    case extendedXMP([UInt8])
    /// IPTC data sets (IPTC-NAA IIM 4.2); JPEG only.
    case iptc([UInt8])
    /// An uncompressed colour profile (ICC.1).
    case icc([UInt8])
    /// The content of one of PNG's colour chunks; PNG only.
    case pngColour(PNGColourChunk, [UInt8])
    case density(PixelDensity)

    /// Whether a file can have only one of both.
    fileprivate func excludes(_ other: Item) -> Bool {
      switch (self, other) {
      case (.exif, .exif), (.xmp, .xmp), (.iptc, .iptc), (.icc, .icc), (.density, .density): true
      case (.pngColour(let chunk, _), .pngColour(let other, _)): chunk == other
      default: false
      }
    }
  }

  /// PNG's colour chunks besides `iCCP`, by their names (W3C PNG, third edition, § 11.3.2).
  enum PNGColourChunk: String, Sendable {
    case cICP, sRGB, gAMA, cHRM
  }

  private(set) var items: [Item] = []
  private var size = 0

  /// The number of bytes that can still be appended. An orientation may have been beyond the limit.
  var room: Int { max(ImageLimits.maxMetadataBytes - size, 0) }

  /// Appends a piece, unless another excludes it or the total would exceed `ImageLimits.maxMetadataBytes`. Of EXIF that is too
  /// large artist, copyright and orientation are appended, or the orientation alone.
  mutating func append(_ item: Item) {
    let count =
      switch item {
      case .exif(let bytes), .xmp(let bytes), .extendedXMP(let bytes), .iptc(let bytes), .icc(let bytes),
        .pngColour(_, let bytes):
        bytes.count
      case .density: 0
      }
    guard !items.contains(where: { $0.excludes(item) }) else { return }
    guard count <= room else {
      if case .exif(let bytes) = item, let exif = Exif(bytes) { append(reduced: exif) }
      return
    }
    size += count
    items.append(item)
  }

  /// An orientation alone has 26 bytes, for which there is always room.
  private mutating func append(reduced exif: Exif) {
    let rights = exif.reduced(to: .copyright).flatMap { $0.bytes.count <= room ? $0 : nil }
    guard let kept = rights ?? exif.reduced(to: .none) else { return }
    size += kept.bytes.count
    items.append(.exif(kept.bytes))
  }

  /// The orientation in the first EXIF stream.
  var orientation: Orientation {
    for case .exif(let bytes) in items { return Exif(bytes)?.orientation ?? .upright }
    return .upright
  }

  /// The metadata that a policy keeps for the upright result of the given size.
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

  var transposed: Metadata {
    var result = self
    result.items = items.map { item in
      if case .density(let density) = item { .density(density.transposed) } else { item }
    }
    return result
  }

  /// The pixel density; nil when the file has none.
  var density: PixelDensity? {
    for case .density(let density) in items { return density }
    return nil
  }

  /// The metadata without the pieces that fulfil a predicate.
  func removing(_ isRemoved: (Item) -> Bool) -> Metadata {
    var result = self
    result.items.removeAll(where: isRemoved)
    return result
  }

  /// Whether there is a colour profile whose header says that it is for grey pixels.
  var hasGreyProfile: Bool {
    items.contains { item in
      guard case .icc(let profile) = item else { return false }
      // The colour space is at bytes 16…19 of the header, the signature at 36…39 (ICC.1:2022 § 7.2).
      return profile.dropFirst(16).starts(with: "GRAY".utf8) && profile.dropFirst(36).starts(with: "acsp".utf8)
    }
  }
}

/// How much of EXIF, XMP and IPTC is kept. Colour profiles, PNG's colour chunks and the pixel density are always kept;
/// orientation and thumbnails never are.
package enum MetadataPolicy: String, CaseIterable, Sendable {
  case none
  /// Of EXIF, artist and copyright; of IPTC, by-line, credit and copyright notice; of XMP nothing.
  case copyright
  case all
}
