/// The colour space of a file's samples.
enum ColourSpace: Hashable, Sendable {
  /// sRGB (IEC 61966-2-1), declared or assumed.
  case sRGB
  /// A profile (ICC.1).
  case profile([UInt8])
  /// PNG's `gAMA`, in 100 000ths, and its `cHRM`: white, red, green and blue, x and y each, in 100 000ths; sRGB's when
  /// nil.
  case gamma(Int, chromaticities: [Int]?)
}

extension Metadata {
  /// The colour space: a profile takes precedence over PNG's `sRGB`, that over `gAMA` and `cHRM` (W3C PNG, third edition,
  /// § 4.3). `cHRM` alone is ignored.
  var colour: ColourSpace {
    var chunks: [PNGColourChunk: [UInt8]] = [:]
    for item in items {
      switch item {
      case .icc(let profile): return .profile(profile)
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
  var withoutColourSpace: Metadata {
    removing {
      switch $0 {
      case .icc, .pngColour: true
      default: false
      }
    }
  }

  private static func numbers(_ bytes: [UInt8]) -> [Int] {
    stride(from: 0, to: bytes.count - bytes.count % 4, by: 4).map { offset in
      bytes[offset..<(offset + 4)].bigEndianInteger
    }
  }
}
