/// A copy of a picture without decoding: the coded picture bit for bit, without the metadata that a policy does not keep and
/// without bytes after the picture's end.
package struct LosslessCopy: Sendable {
  package enum Part: Sendable, Equatable {
    /// Bytes of the file, by their offsets.
    case range(Range<Int64>)
    /// Other bytes.
    case bytes([UInt8])
    /// So many bytes that are 0.
    case zeros(Int)
  }

  /// The picture in the file.
  package let info: ImageInfo
  /// The picture in the copy: without the further ones of a JPEG file.
  package let copiedInfo: ImageInfo
  /// The parts of the copy, in order.
  package let parts: [Part]
  /// Whether the copy is the file itself, because nothing is left out.
  package let isWholeFile: Bool
  /// Whether metadata is left out because it cannot be read.
  package let hasUnreadableMetadata: Bool
  /// Whether metadata that was to be left out may still be in the copy.
  package let mayKeepMetadata: Bool
  /// Damage of the header; nil without any.
  package let damage: PictureDamage?
  /// The decoder's error because of that damage; nil when the picture can be decoded.
  package let decodingError: ImagingError?

  /// Reads the header of the picture in an open file and determines the parts of a copy, without decoding: damage beyond the
  /// header is not detected. No library of a format sees the file; zlib expands texts of PNG that may be EXIF, 12 MiB at most.
  /// The file must be seekable and is read from its beginning; its offset afterwards is undefined, and it is not closed.
  /// - Parameters:
  ///   - size: The file's size in bytes, of which nothing beyond is read. Default: nil, not known.
  ///   - isCancelled: Called for every buffer that is read; when it returns true, `cancelled` is thrown.
  /// - Throws: all codes but `filter-failed`.
  package init(
    of descriptor: Int32, size: Int64? = nil, keeping policy: MetadataPolicy, limits: ImageLimits = ImageLimits(),
    isCancelled: @escaping () -> Bool = { false }
  ) throws(ImagingError) {
    try self.init(FileReader(descriptor, size: size, isCancelled: isCancelled), policy, limits)
  }

  /// As for an open file, of the bytes of one.
  package init(
    of bytes: [UInt8], keeping policy: MetadataPolicy, limits: ImageLimits = ImageLimits(),
    isCancelled: @escaping () -> Bool = { false }
  ) throws(ImagingError) {
    try self.init(FileReader(bytes, isCancelled: isCancelled), policy, limits)
  }

  private init(_ file: FileReader, _ policy: MetadataPolicy, _ limits: ImageLimits) throws(ImagingError) {
    let structure = try ImageFormat.structure(of: file, limits: limits)
    let copied = try structure.copiedParts(policy)
    (info, copiedInfo) = (structure.info, structure.copiedInfo)
    (damage, decodingError) = (structure.damage, structure.decodingError)
    parts = copied.parts
    isWholeFile = copied.parts == [.range(0..<(try file.size()))]
    (hasUnreadableMetadata, mayKeepMetadata) = (copied.hasUnreadableMetadata, copied.mayKeepMetadata)
  }

  /// The bytes of the copy.
  /// - Parameter bytes: Those of the file.
  /// - Throws: `image-truncated` if it ends before a part of the copy does.
  package func copied(from bytes: [UInt8]) throws(ImagingError) -> [UInt8] {
    if isWholeFile { return bytes }
    var copy: [UInt8] = []
    copy.reserveCapacity(bytes.count)
    for part in parts {
      switch part {
      case .range(let range):
        guard range.upperBound <= bytes.count else {
          throw ImagingError(code: .imageTruncated, message: "the file ends before a part of the picture does")
        }
        copy += bytes[Int(range.lowerBound)..<Int(range.upperBound)]
      case .bytes(let bytes): copy += bytes
      case .zeros(let count): copy += repeatElement(0, count: count)
      }
    }
    return copy
  }
}

extension ImageFormat {
  /// Reads the header of the picture in a file, whose format is detected by the content.
  /// - Throws: all codes but `filter-failed`.
  static func structure(of file: FileReader, limits: ImageLimits) throws(ImagingError) -> any PictureStructure {
    let header = try file.bytes(ContentKind.headerBytes, at: 0)
    guard let format = sniffed(from: header) else { throw ContentKind(of: header).error }
    return try format.structure.init(file, limits: limits)
  }
}
