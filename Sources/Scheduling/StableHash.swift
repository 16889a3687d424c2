/// A hash of a text or a position that is the same in every process and version: FNV-1a, with the last step of splitmix64.
package struct StableHash: Sendable {
  let value: UInt64

  package init(_ text: String) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    value = Self.mixed(hash)
  }

  init(position: Int) { self.init(value: Self.mixed(UInt64(bitPattern: Int64(position)) &* 0x9e37_79b9_7f4a_7c15)) }

  private init(value: UInt64) { self.value = value }

  /// Another hash of the same text, independent of this one.
  package func variant(_ number: Int) -> StableHash {
    StableHash(value: Self.mixed(value &+ UInt64(bitPattern: Int64(number)) &* 0x9e37_79b9_7f4a_7c15))
  }

  /// One of `count` buckets, by jump consistent hashing (Lamping and Veach, 2014): with one bucket more, only the share of the
  /// new one moves.
  /// - Parameter count: At least 1.
  package func bucket(of count: Int) -> Int {
    var (key, bucket, next) = (value, 0, 0)
    while next < count {
      bucket = next
      key = key &* 2_862_933_555_777_941_757 &+ 1
      let jump = Double(bucket + 1) * (Double(1 << 31) / Double((key >> 33) + 1))
      next = jump < Double(count) ? Int(jump) : count
    }
    return bucket
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    var bits = value
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }
}
