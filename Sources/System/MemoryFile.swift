import CLinux

/// A text as a file in memory (`memfd_create`), for libraries that read only files. It is in no folder, only its owner may
/// read it, and it disappears when released.
package final class MemoryFile: Sendable, Hashable {
  private let file: OpenFile
  private let digest: String

  /// - Throws: `SystemError`, also when `/proc` is not mounted.
  package init(_ text: String) throws {
    let file = try OpenFile(inMemory: "darkroom")
    try file.write(text)
    _ = try OpenFile(reading: file.path)
    (self.file, digest) = (file, MessageDigest.hexDigest(of: text))
  }

  /// The path at which this process opens the file, any number of times, each at its beginning.
  package var path: String { file.path }

  /// Whether the files have the same text.
  package static func == (one: MemoryFile, other: MemoryFile) -> Bool { one.digest == other.digest }

  package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
