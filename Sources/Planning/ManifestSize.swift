import Glibc
import Manifests

/// Finds out, before a manifest is copied and while it is, that its size rejects it: then nothing more of it is read.
package struct ManifestSize {
  /// A line may be this long, in bytes, before reading ends. Longer than the format's limit, so that the problems of a manifest
  /// with a line that is only too long are all found; also in UTF-16.
  static let lineLimit = 16 << 20

  /// A manifest up to this size, in bytes, may have holes: what they are read as is found soon enough.
  static let smallSize = 1 << 20

  private let isWhole: Bool
  private let isCompressed: Bool

  /// Where the line that is being read begins, and where reading stands, in bytes.
  private var (line, end) = (0, 0)

  /// - Parameters:
  ///   - format: The name of the manifest's format.
  ///   - isCompressed: Whether it is packed with gzip.
  package init(format: String, isCompressed: Bool) {
    isWhole = ["json", "plist"].contains(format)
    self.isCompressed = isCompressed
  }

  /// Why a file is rejected of which nothing has been read; nil when it is not.
  /// - Parameters:
  ///   - size: In bytes.
  ///   - hole: Where its first hole begins; its size when it has none.
  package func problem(size: Int, hole: Int) -> String? {
    // The byte-order mark does not count.
    if isWhole, !isCompressed, size > ManifestFile.wholeLimit + 3 {
      return "the limit for this format is \(ManifestFile.wholeLimit) bytes; the file has \(size). Use .jsonl, .csv or "
        + ".txt, which are streamed"
    }
    guard size > Self.smallSize, hole < size, isCompressed || !isWhole else { return nil }
    return "the file is sparse: it has \(size) bytes, and nothing at byte \(hole), where a manifest has text"
  }

  /// Counts the next piece of the file.
  /// - Returns: Why it is rejected; nil when it is not yet.
  package mutating func take(_ piece: UnsafeRawBufferPointer) -> String? {
    guard !isWhole, !isCompressed, let start = piece.baseAddress, !piece.isEmpty else { return nil }
    let feed = Int32(UInt8(ascii: "\n"))
    let first = memchr(start, feed, piece.count).map { UnsafeRawPointer($0) - start }
    if end + (first ?? piece.count) - line > Self.lineLimit {
      return "a line, from byte \(line) on, has more than \(Self.lineLimit) bytes, and no line may have more than 1 MiB"
    }
    if first != nil, let last = piece.lastIndex(of: UInt8(ascii: "\n")) { line = end + last + 1 }
    end += piece.count
    return nil
  }
}
