/// A format that pictures are read from and written to.
package enum ImageFormat: String, CaseIterable, Sendable {
  /// JPEG (ITU-T T.81) in a JFIF or Exif file.
  case jpeg
  /// Portable Network Graphics (W3C PNG, third edition).
  case png
  /// WebP (RFC 9649).
  case webp

  /// The extension of files of this format, without a dot: `jpg`, `png`, `webp`.
  package var fileExtension: String {
    switch self {
    case .jpeg: "jpg"
    case .png: "png"
    case .webp: "webp"
    }
  }

  /// The name people use: `JPEG`, `PNG`, `WebP`.
  package var displayName: String { self == .webp ? "WebP" : rawValue.uppercased() }

  /// The format of a file that begins with the bytes given, or nil when it is none of ours. 12 bytes are enough; names
  /// play no part.
  package static func sniffed(from header: some Collection<UInt8>) -> ImageFormat? {
    if header.starts(with: [0xFF, 0xD8, 0xFF]) { return .jpeg }
    // The other half of the signature detects text-mode transfers, which libpng reports as damage.
    if header.count >= 8, header.starts(with: [0x89, 0x50, 0x4E, 0x47]) { return .png }
    if header.starts(with: "RIFF".utf8), header.dropFirst(8).starts(with: "WEBP".utf8) { return .webp }
    return nil
  }
}
