/// The colour space of a file's samples.
enum ColourSpace: Hashable, Sendable {
  /// sRGB (IEC 61966-2-1), declared or assumed.
  case sRGB
  /// A profile (ICC.1).
  case profile([UInt8])
  /// PNG's `gAMA`, in 100 000ths, and its `cHRM`: white, red, green and blue, x and y each, in 100 000ths; sRGB's when
  /// nil.
  case gamma(Int, chromaticities: [Int]?)
  /// Code points, of another colour space than sRGB.
  case cicp(CICPColour)
}

extension Metadata {
  /// The colour space: a profile takes precedence over PNG's `sRGB`, that over `gAMA` and `cHRM` (W3C PNG, third edition,
  /// § 4.3). `cHRM` alone is ignored. PNG's chunks are expected to be valid, and `cICP` to be alone.
  var colour: ColourSpace {
    var chunks: [PNGColourChunk: [UInt8]] = [:]
    for item in items {
      switch item {
      case .icc(let profile): return .profile(profile)
      case .pngColour(.cICP, let bytes):
        return CICPColour(chunk: bytes).flatMap { $0.isSRGB ? nil : .cicp($0) } ?? .sRGB
      case .pngColour(let chunk, let bytes): chunks[chunk] = bytes
      default: break
      }
    }
    guard chunks[.sRGB] == nil, let gamma = chunks[.gAMA] else { return .sRGB }
    return .gamma(gamma.bigEndianInteger, chromaticities: chunks[.cHRM].map(PNGColourChunk.numbers))
  }

  /// The metadata of a picture that has been converted to sRGB: without profiles and colour chunks.
  var withoutColourSpace: Metadata { removing(\.isColour) }

  /// The metadata without a profile.
  var withoutProfile: Metadata { removing { if case .icc = $0 { true } else { false } } }

  /// The metadata in which PNG's `cICP` is alone, or not there. It takes precedence over a profile and the other chunks (W3C PNG,
  /// third edition, § 4.3). But HDR is not mapped to what a screen shows: what is meant for readers without it is used instead, if
  /// there is something.
  var resolvingCICP: Metadata {
    for case .pngColour(.cICP, let bytes) in items {
      let isReplaced = items.contains { $0.isColour && !$0.isCICP && !$0.isChromaticities }
      let isIgnored = CICPColour(chunk: bytes)?.isHDR != false && isReplaced
      return removing { $0.isColour && $0.isCICP == isIgnored }
    }
    return self
  }
}

extension Metadata.PNGColourChunk {
  /// Whether the content of a chunk is valid; the limits are those of libpng 1.6, which ignores other chunks.
  func isValid(_ bytes: [UInt8]) -> Bool {
    switch self {
    case .cICP: CICPColour(chunk: bytes) != nil
    case .sRGB: true
    case .gAMA: bytes.count == 4 && (16...625_000_000).contains(bytes.bigEndianInteger)
    case .cHRM: bytes.count == 32 && Self.areChromaticities(Self.numbers(bytes))
    }
  }

  /// Whether the eight numbers of `cHRM` are those of colours, and the white is inside the triangle of the primaries: else
  /// no amounts of the primaries add up to it, or more than one.
  private static func areChromaticities(_ numbers: [Int]) -> Bool {
    let points = stride(from: 0, to: 8, by: 2).map { (x: numbers[$0], y: numbers[$0 + 1]) }
    let white = points[0]
    guard points.allSatisfy({ $0.x + $0.y <= 100_000 }), white.y >= 5 else { return false }
    // Twice the area of the triangle of the white and two primaries, with the sign of its direction.
    let areas = [(1, 2), (2, 3), (3, 1)].map { first, second in
      (points[first].x - white.x) * (points[second].y - white.y)
        - (points[second].x - white.x) * (points[first].y - white.y)
    }
    return areas.allSatisfy { $0 > 0 } || areas.allSatisfy { $0 < 0 }
  }

  /// The big-endian integers of 32 bits in a chunk.
  fileprivate static func numbers(_ bytes: [UInt8]) -> [Int] {
    stride(from: 0, to: bytes.count, by: 4).map { bytes[$0..<($0 + 4)].bigEndianInteger }
  }
}

extension Metadata.Item {
  /// Whether it says something about the colour space.
  fileprivate var isColour: Bool {
    switch self {
    case .icc, .pngColour: true
    default: false
    }
  }

  fileprivate var isCICP: Bool { if case .pngColour(.cICP, _) = self { true } else { false } }

  fileprivate var isChromaticities: Bool { if case .pngColour(.cHRM, _) = self { true } else { false } }
}
