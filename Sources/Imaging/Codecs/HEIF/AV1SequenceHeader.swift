/// The sequence header of a coded AV1 picture (AV1 bitstream specification, § 5.5), as far as its colours: what a file means that
/// has no colour box.
struct AV1SequenceHeader {
  /// Its primaries and transfer function.
  let colour: CICPColour

  /// The bytes of a picture among which the header is, which is at its beginning.
  static let searchedBytes = 4 << 10

  private static let (sequenceType, temporalDelimiterType, paddingType) = (1, 2, 15)

  /// Reads the header in the first bytes of a picture; nil when there is none, or it does not say its colours.
  init?(_ bytes: [UInt8]) {
    var reader = Bits(bytes)
    while let type = reader.unitType() {
      guard let size = type.hasSize ? reader.size() : reader.left else { return nil }
      switch type.number {
      case Self.sequenceType:
        guard let colour = reader.colour() else { return nil }
        self.colour = colour
        return
      case Self.temporalDelimiterType, Self.paddingType:
        guard reader.skip(8 * size) else { return nil }
      default: return nil
      }
    }
    return nil
  }

  /// Reads bits, the most significant one first. All functions return nil at the end.
  private struct Bits {
    private let bytes: [UInt8]
    /// In bits.
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The bytes that follow.
    var left: Int { (8 * bytes.count - offset) / 8 }

    mutating func skip(_ count: Int) -> Bool {
      guard count <= 8 * bytes.count - offset else { return false }
      offset += count
      return true
    }

    /// A number of up to 32 bits.
    mutating func number(_ count: Int) -> Int? {
      guard count <= 8 * bytes.count - offset else { return nil }
      var result = 0
      for _ in 0..<count {
        result = result << 1 | Int(bytes[offset / 8] >> UInt8(7 - offset % 8) & 1)
        offset += 1
      }
      return result
    }

    mutating func flag() -> Bool? { number(1).map { $0 == 1 } }

    /// The header of a unit (§ 5.3.2).
    mutating func unitType() -> (number: Int, hasSize: Bool)? {
      guard skip(1), let type = number(4), let hasExtension = flag(), let hasSize = flag(), skip(hasExtension ? 9 : 1)
      else { return nil }
      return (type, hasSize)
    }

    /// A size in bytes (`leb128`, § 4.10.5), as far as it may be in what is searched.
    mutating func size() -> Int? {
      guard let low = number(8) else { return nil }
      guard low > 127 else { return low }
      guard let high = number(8), high < 128 else { return nil }
      return low & 127 | high << 7
    }

    /// Reads a header to the end of its description of colours (§ 5.5.1, 5.5.2).
    mutating func colour() -> CICPColour? {
      guard let profile = number(3), skip(1), let isReduced = flag() else { return nil }
      guard isReduced ? skip(5) : skipOperatingPoints() else { return nil }
      guard let widthBits = number(4), let heightBits = number(4), skip(widthBits + heightBits + 2) else { return nil }
      if !isReduced {
        guard let hasFrameNumbers = flag(), skip(hasFrameNumbers ? 7 : 0) else { return nil }
      }
      guard skip(3), isReduced || skipTools(), skip(3), let isDeep = flag() else { return nil }
      if profile == 2, isDeep { guard skip(1) else { return nil } }
      if profile != 1 { guard skip(1) else { return nil } }
      guard flag() == true, let primaries = number(8), let transfer = number(8) else { return nil }
      return CICPColour(primaries: primaries, transfer: transfer)
    }

    private mutating func skipOperatingPoints() -> Bool {
      var delayBits = 0
      guard let hasTiming = flag() else { return false }
      if hasTiming {
        guard skip(64), let isRegular = flag(), !isRegular || skipVariableLength(), let hasModel = flag() else {
          return false
        }
        if hasModel {
          guard let bits = number(5), skip(42) else { return false }
          delayBits = bits + 1
        }
      }
      guard let hasDelay = flag(), let count = number(5) else { return false }
      for _ in 0...count {
        guard skip(12), let level = number(5), skip(level > 7 ? 1 : 0) else { return false }
        if delayBits > 0 {
          guard let isDescribed = flag(), skip(isDescribed ? 2 * delayBits + 1 : 0) else { return false }
        }
        if hasDelay {
          guard let isDescribed = flag(), skip(isDescribed ? 4 : 0) else { return false }
        }
      }
      return true
    }

    private mutating func skipVariableLength() -> Bool {
      var zeros = 0
      while let bit = flag() {
        if bit { return zeros >= 32 || skip(zeros) }
        zeros += 1
      }
      return false
    }

    /// The tools for films.
    private mutating func skipTools() -> Bool {
      guard skip(4), let hasOrder = flag(), skip(hasOrder ? 2 : 0), let choosesContent = flag() else { return false }
      var isContentForced = true
      if !choosesContent {
        guard let isForced = flag() else { return false }
        isContentForced = isForced
      }
      if isContentForced {
        guard let choosesVectors = flag(), skip(choosesVectors ? 0 : 1) else { return false }
      }
      return skip(hasOrder ? 3 : 0)
    }
  }
}
