import CZlib
import Foundation

/// Files packed by zlib's own writer.
package enum Gzip {
  /// Adds a member to a file, which is created when it is missing.
  package static func append(_ bytes: some Sequence<UInt8>, to path: String) throws {
    guard let file = gzopen(path, "ab9") else { throw CocoaError(.fileWriteUnknown) }
    let bytes = Array(bytes)
    let written = bytes.withUnsafeBytes { gzwrite(file, $0.baseAddress, UInt32($0.count)) }
    guard gzclose(file) == Z_OK, written == bytes.count else { throw CocoaError(.fileWriteUnknown) }
  }

  /// A file's bytes, with a member for each of the parts.
  package static func packed(_ parts: [some Sequence<UInt8>]) throws -> Data {
    let folder = try TemporaryFolder()
    for part in parts { try append(part, to: folder.file("packed")) }
    return try Data(contentsOf: URL(fileURLWithPath: folder.file("packed")))
  }
}
