import Foundation

/// A file some bytes of which are overwritten.
package enum DamagedFile {
  /// Overwrites 8 bytes in a row with random ones, somewhere in a file. The same seed gives the same place and bytes.
  package static func overwrite(_ path: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    let place = Int.random(in: 0...bytes.count - 8, using: &random)
    for offset in 0..<8 { bytes[place + offset] = UInt8.random(in: 0...255, using: &random) }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.write(contentsOf: bytes)
    try file.close()
  }
}
