import Glibc
import Manifests

/// Detects, before and while a manifest is copied, that its size rejects it, so that reading can stop.
package struct ManifestSize {
  /// The longest line that is read, in bytes. It is longer than the limit of the formats, in UTF-16 too, so that all
  /// problems of a manifest with a line that is only a little too long are found.
  static let lineLimit = 16 << 20

  /// The size in bytes up to which a manifest may have holes, which the formats then report.
  static let smallSize = 1 << 20

  private let isWhole: Bool
  private let isCompressed: Bool

  /// The offsets of the current line and of the end of the bytes that were read.
  private var (line, end) = (0, 0)

  /// - Parameters:
  ///   - format: The name of the manifest's format.
  ///   - isCompressed: Whether it is compressed with gzip.
  package init(format: String, isCompressed: Bool) {
    isWhole = ["json", "plist"].contains(format)
    self.isCompressed = isCompressed
  }

  /// Why a file is rejected before it is read; nil when it is not.
  /// - Parameters:
  ///   - size: The size in bytes.
  ///   - hole: The offset of its first hole; its size when it has none.
  package func problem(size: Int, hole: Int) -> String? {
    // Leaves room for a byte-order mark.
    if isWhole, !isCompressed, size > ManifestFile.wholeLimit + 3 {
      return "the limit for this format is \(ManifestFile.wholeLimit) bytes; the file has \(size). Use .jsonl, .csv or "
        + ".txt, which are streamed"
    }
    guard size > Self.smallSize, hole < size, isCompressed || !isWhole else { return nil }
    return "the file is sparse: it has \(size) bytes, and nothing at byte \(hole), where a manifest has text"
  }

  /// Examines the next piece of the file.
  /// - Returns: Why the file is rejected; nil when it is not.
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
