/// What a file's numbers mean as colours.
enum SourceColour: Hashable, Sendable {
  /// sRGB (IEC 61966-2-1), said or assumed.
  case sRGB
  /// A profile (ICC.1).
  case profile([UInt8])
  /// PNG's `gAMA`, in 100 000ths, and its `cHRM`: white, red, green and blue, x and y each, in 100 000ths; sRGB's when
  /// nil.
  case gamma(Int, chromaticities: [Int]?)
}

extension Metadata {
  /// What the numbers mean: a profile goes before PNG's `sRGB`, that before its `gAMA` and `cHRM` (W3C PNG, third edition,
  /// § 4.3). `cHRM` alone means nothing.
  var colour: SourceColour {
    var chunks: [[UInt8]: [UInt8]] = [:]
    for item in items {
      switch item {
      case .icc(let profile): return .profile(profile)
      case .pngColour(let name, let bytes): chunks[name] = bytes
      default: break
      }
    }
    let (standard, gamma, chromaticities) = (PNGChunk.colour[0], PNGChunk.colour[1], PNGChunk.colour[2])
    guard chunks[standard] == nil, let value = chunks[gamma].map(Self.numbers), value.count == 1, value[0] > 0 else {
      return .sRGB
    }
    let points = chunks[chromaticities].map(Self.numbers)
    return .gamma(value[0], chromaticities: points?.count == 8 ? points : nil)
  }

  /// The same for a picture whose numbers are sRGB now: without profiles and chunks that say otherwise.
  var withoutColour: Metadata {
    removing {
      switch $0 {
      case .icc, .pngColour: true
      default: false
      }
    }
  }

  private static func numbers(_ bytes: [UInt8]) -> [Int] {
    stride(from: 0, to: bytes.count - bytes.count % 4, by: 4).map { place in
      bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
  }
}
