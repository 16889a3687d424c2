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
  /// § 4.3). `cHRM` alone is ignored. PNG's `cICP` is expected to be alone.
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
    guard chunks[.sRGB] == nil, let value = chunks[.gAMA].map(Self.numbers), value.count == 1, value[0] > 0 else {
      return .sRGB
    }
    let points = chunks[.cHRM].map(Self.numbers)
    return .gamma(value[0], chromaticities: points?.count == 8 ? points : nil)
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

  private static func numbers(_ bytes: [UInt8]) -> [Int] {
    stride(from: 0, to: bytes.count - bytes.count % 4, by: 4).map { offset in
      bytes[offset..<(offset + 4)].bigEndianInteger
    }
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
