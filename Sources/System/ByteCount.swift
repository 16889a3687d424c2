/// A number of bytes, in the words of a message: `256 MiB`, `1.5 GiB`, `300 bytes`. Rounded down to a tenth.
package struct ByteCount: Sendable, CustomStringConvertible {
  package let bytes: Int

  package init(_ bytes: Int) { self.bytes = bytes }

  package var description: String {
    let units = ["KiB", "MiB", "GiB", "TiB"]
    guard let power = units.indices.last(where: { bytes >> (10 * ($0 + 1)) > 0 }) else {
      return bytes.of("byte", "bytes")
    }
    let shift = 10 * (power + 1)
    let tenths = (((bytes >> (shift - 10)) & 1023) * 10) >> 10
    return "\(bytes >> shift)" + (tenths > 0 ? ".\(tenths)" : "") + " " + units[power]
  }
}

extension Int {
  /// The number with its noun: `1 entry`, `2 entries`.
  package func of(_ one: String, _ many: String) -> String { "\(self) \(self == 1 ? one : many)" }
}
