/// The bytes with which files of a format begin.
struct FormatSignature: Sendable {
  /// The bytes; nil matches any byte.
  let bytes: [UInt8?]
  /// The number of bytes that distinguish the format, so that a shorter file counts as a truncated picture.
  let distinctiveCount: Int

  /// Whether a file with this header has the format.
  func matches(_ header: some Collection<UInt8>) -> Bool { header.count >= bytes.count && agrees(with: header) }

  /// Whether a file that consists of this header ends within the signature.
  func isTruncated(in header: some Collection<UInt8>) -> Bool {
    (distinctiveCount..<bytes.count).contains(header.count) && agrees(with: header)
  }

  private func agrees(with header: some Collection<UInt8>) -> Bool {
    zip(bytes, header).allSatisfy { $0 == nil || $0 == $1 }
  }
}

extension ImageFormat {
  /// Detects the format of a file by its first bytes, of which 12 are enough; nil for unknown formats.
  package static func sniffed(from header: some Collection<UInt8>) -> ImageFormat? {
    allCases.first { $0.signature.matches(header) }
  }

  /// Opens the picture in a file with the decoder of its format, which is detected by the content. The file must be
  /// seekable, is read from its beginning, and must stay open while the decoder lives; it is not closed.
  /// - Throws: `not-an-image`, `unsupported-format`, `image-corrupt`, `image-truncated`, `image-too-large`, `io`.
  static func open(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) -> any RowDecoder {
    let header = try FileReader(descriptor).bytes(ContentKind.headerBytes, at: 0)
    guard let format = sniffed(from: header) else { throw ContentKind(of: header).error }
    return try format.decoder.init(descriptor, limits: limits)
  }
}
