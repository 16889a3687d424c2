import Glibc

/// Tells the format of an open file by its content.
enum Sniffing {
  /// How many bytes are looked at.
  static let length = 512

  /// The format of the file behind a descriptor, which stays where it is.
  /// - Throws: `not-an-image`, `unsupported-format`, `image-truncated`, or `io` when the file cannot be read or is not
  ///   seekable (pread(2)).
  static func format(of descriptor: Int32) throws(ImagingError) -> ImageFormat {
    var header = [UInt8](repeating: 0, count: length)
    let count = header.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { throw .io(errno, doing: "the picture cannot be read") }
    header.removeSubrange(count...)
    guard let format = ImageFormat.sniffed(from: header) else { throw ContentKind(of: header).refusal }
    return format
  }
}
