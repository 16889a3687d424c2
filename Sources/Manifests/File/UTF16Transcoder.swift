/// Converts UTF-16 to UTF-8, pushed in pieces of any length.
///
/// Invalid text (half a pair of surrogates, half a unit) becomes invalid UTF-8, so that a later check of the text finds its
/// position.
struct UTF16Transcoder {
  private let isBigEndian: Bool
  private var half: UInt8?
  private var high: UInt16?
  private var output: [UInt8] = []

  init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

  /// Calls `body` once, with the converted piece.
  mutating func push(_ piece: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    for byte in piece {
      guard let first = half else {
        half = byte
        continue
      }
      half = nil
      append(isBigEndian ? UInt16(first) << 8 | UInt16(byte) : UInt16(byte) << 8 | UInt16(first))
    }
    try deliver(body)
  }

  mutating func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    if let high { encode(UInt32(high)) }
    if half != nil { output.append(0xff) }
    try deliver(body)
  }

  private mutating func append(_ unit: UInt16) {
    if let first = high {
      high = nil
      if UTF16.isTrailSurrogate(unit) {
        return encode(0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(unit) - 0xdc00))
      }
      encode(UInt32(first))
    }
    if UTF16.isLeadSurrogate(unit) { high = unit } else { encode(UInt32(unit)) }
  }

  private mutating func encode(_ code: UInt32) {
    if let scalar = UnicodeScalar(code) { output += scalar.utf8 } else { output.append(0xff) }
  }

  private mutating func deliver(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    try output.withUnsafeBytes(body)
    output.removeAll(keepingCapacity: true)
  }
}
