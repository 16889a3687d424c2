/// A picture format: one value that describes it, from which everything else is derived. Compared, hashed and coded by name.
///
/// Adding a format takes a folder with its codecs and a static member that describes it, and one line in `allCases`.
package struct ImageFormat: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible, CaseIterable {
  /// The name in options, manifests and reports: `jpeg`.
  package let rawValue: String
  /// The name in messages: `JPEG`.
  package let displayName: String
  /// The extension of file names, without a dot: `jpg`.
  package let fileExtension: String
  /// The bytes with which files begin, one of these.
  let signatures: [FormatSignature]
  let hasAlpha: Bool
  let hasGrey: Bool
  /// Whether files are written with 16 bits per sample when the source has them.
  let has16Bit: Bool
  let compression: Compression
  /// The type that reads the layout of files that are only copied.
  let structure: any PictureStructure.Type
  let decoder: any RowDecoder.Type
  /// The type that writes files; nil for formats that are only read.
  let encoder: (any RowEncoder.Type)?
  /// Whether pictures are only decoded by confined workers. Copies need no decoder.
  package let needsWorker: Bool
  /// The library of the decoder, if the format is not always read.
  package let library: OptionalLibrary?

  enum Compression {
    case lossless, lossy
    /// A file can be the one or the other.
    case either
  }

  init(
    name: String, displayName: String, fileExtension: String, signatures: [FormatSignature], hasAlpha: Bool,
    hasGrey: Bool, has16Bit: Bool, compression: Compression, structure: any PictureStructure.Type,
    decoder: any RowDecoder.Type, encoder: (any RowEncoder.Type)?, needsWorker: Bool = false,
    library: OptionalLibrary? = nil
  ) {
    rawValue = name
    self.displayName = displayName
    self.fileExtension = fileExtension
    self.signatures = signatures
    self.hasAlpha = hasAlpha
    self.hasGrey = hasGrey
    self.has16Bit = has16Bit
    self.compression = compression
    self.structure = structure
    self.decoder = decoder
    self.encoder = encoder
    self.needsWorker = needsWorker
    self.library = library
  }

  package init?(rawValue: String) {
    guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = format
  }

  package var description: String { rawValue }

  /// Whether files can be written with less chroma than luma, or with as much.
  package var hasChroma: Bool { self == .jpeg || self == .avif }

  /// Whether pictures can be written in this format.
  package var isWritable: Bool { encoder != nil }

  /// Whether the program was built with what reads the format. The library may still be missing where it runs.
  package var isBuilt: Bool { library?.version.isEmpty != true }

  /// The format of results of the output format `keep`: the same, or PNG or JPEG when the format is only read.
  package var resultFormat: ImageFormat { isWritable ? self : compression == .lossless ? .png : .jpeg }

  /// Whether a file of the format was encoded with a quality, not losslessly.
  /// - Parameter descriptor: The file, which is seekable and stays open; its offset afterwards is undefined.
  package func isLossy(_ descriptor: Int32) -> Bool {
    switch compression {
    case .lossless: return false
    case .lossy: return true
    case .either:
      let container = try? WebPContainer(WebPFile(FileReader(descriptor)), readsMetadata: false)
      return container?.frame.isLossless == false
    }
  }

  /// Detects the format of a file by its first bytes, of which 18 are enough; nil for unknown formats.
  package static func sniffed(from header: [UInt8]) -> ImageFormat? {
    allCases.first { $0.signatures.contains { $0.matches(header) } }
  }

  /// Whether the format is read and written by a large library.
  package var needsLargeLibrary: Bool { library?.isLarge == true }

  /// Whether the decoder of the picture in a file needs a large library.
  /// - Parameter descriptor: The file, which is seekable and stays open.
  package static func needsLargeLibrary(_ descriptor: Int32) -> Bool {
    guard let header = try? FileReader(descriptor).bytes(18, at: 0) else { return false }
    return sniffed(from: header)?.needsLargeLibrary == true
  }

  /// Opens the picture in a file with the decoder of its format, which is detected by the content. The file must be
  /// seekable, is read from its beginning, and must stay open while the decoder lives; it is not closed.
  /// - Throws: `not-an-image`, `unsupported-format`, `image-corrupt`, `image-truncated`, `image-too-large`, `io`.
  static func open(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) -> any RowDecoder {
    let header = try FileReader(descriptor).bytes(ContentKind.headerBytes, at: 0)
    guard let format = sniffed(from: header) else { throw ContentKind(of: header).error }
    if format.needsWorker, !limits.isConfined {
      throw ImagingError(
        code: .unsupportedFormat,
        message: "\(format.displayName) is only decoded by confined workers (--isolation process)")
    }
    if let library = format.library, !library.isLoaded {
      throw library.missing("\(format.displayName) is decoded")
    }
    return try format.decoder.init(descriptor, limits: limits)
  }

  /// All formats, in the order in which contents are matched.
  package static let allCases: [ImageFormat] = [
    .jpeg,
    .png,
    .webp,
    .gif,
    .bmp,
    .tiff,
    .avif,
    .heic,
  ]
}

/// The bytes with which files of a format begin.
struct FormatSignature: Sendable {
  /// The bytes; nil matches any byte.
  let bytes: [UInt8?]
  /// The number of bytes that distinguish the format, so that a shorter file counts as a truncated picture.
  let distinctiveCount: Int

  /// Whether a file with this header has the format.
  func matches(_ header: [UInt8]) -> Bool { header.count >= bytes.count && agrees(with: header) }

  /// Whether a file that consists of this header ends within the signature.
  func isTruncated(in header: [UInt8]) -> Bool {
    (distinctiveCount..<bytes.count).contains(header.count) && agrees(with: header)
  }

  private func agrees(with header: [UInt8]) -> Bool {
    zip(bytes, header).allSatisfy { $0 == nil || $0 == $1 }
  }
}
