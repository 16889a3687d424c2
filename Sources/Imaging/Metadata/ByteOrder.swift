extension Sequence<UInt8> {
  /// The unsigned integer of the bytes, the most significant first.
  var bigEndianInteger: Int { reduce(0) { $0 << 8 | Int($1) } }
}

extension BidirectionalCollection<UInt8> {
  /// The unsigned integer of the bytes, the least significant first.
  var littleEndianInteger: Int { reversed().bigEndianInteger }
}

extension [UInt8] {
  /// The low `count` bytes of an integer, the most significant first.
  init(bigEndian value: Int, count: Int) {
    self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
  }

  /// The low `count` bytes of an integer, the least significant first.
  init(littleEndian value: Int, count: Int) { self = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
}
