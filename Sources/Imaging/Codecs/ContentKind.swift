/// The kind of a file that is not a picture of a supported format, detected by its first bytes.
enum ContentKind: Equatable {
  case empty
  /// A file that ends within the signature of a format.
  case truncatedSignature(ImageFormat)
  /// A picture of an unsupported format, with its name.
  case otherPicture(String)
  /// Anything else, in words with an article: `an HTML page`.
  case other(String)

  /// The number of bytes that are examined.
  static let headerBytes = 512

  /// Detects the kind of a file from its first `headerBytes` bytes, or fewer when the file is shorter.
  init(of header: [UInt8]) {
    if header.isEmpty {
      self = .empty
    } else if let format = ImageFormat.allCases.first(where: { $0.signatures.contains { $0.isTruncated(in: header) } })
    {
      self = .truncatedSignature(format)
    } else if let name = Self.pictureName(header) {
      self = .otherPicture(name)
    } else {
      self = .other(Self.description(header))
    }
  }

  /// The error for a file of this kind.
  var error: ImagingError {
    switch self {
    case .empty:
      ImagingError(code: .notAnImage, message: "the file is empty")
    case .truncatedSignature(let format):
      ImagingError(code: .imageTruncated, message: "the file ends within the signature of a \(format.displayName)")
    case .otherPicture(let name):
      ImagingError(
        code: .unsupportedFormat,
        message:
          "\(name) is not a format that can be read (\(ImageFormat.allCases.map(\.displayName).joined(separator: ", ")))"
      )
    case .other(let words):
      ImagingError(code: .notAnImage, message: "the file is not a picture but looks like \(words)")
    }
  }

  /// Signatures of unsupported formats.
  private static let pictureSignatures: [(bytes: [UInt8], name: String)] = [
    ([0xFF, 0x0A], "JPEG XL"), ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20], "JPEG XL"),
    ([0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20], "JPEG 2000"), ([0xFF, 0x4F, 0xFF, 0x51], "JPEG 2000"),
    (Array("8BPS".utf8), "Photoshop"), ([0, 0, 1, 0], "ICO"),
  ]

  private static func pictureName(_ header: [UInt8]) -> String? {
    for signature in pictureSignatures where header.starts(with: signature.bytes) { return signature.name }
    if isNetpbm(header) { return "Netpbm (PBM, PGM, PPM)" }
    let text = lowercasedText(header)
    if text.hasPrefix("<svg") || (text.hasPrefix("<?xml") || text.hasPrefix("<!")) && text.contains("<svg") {
      return "SVG"
    }
    return nil
  }

  /// Whether it begins with `P1` to `P6`, and then a width and a height, or a comment.
  private static func isNetpbm(_ header: [UInt8]) -> Bool {
    let words = header.split(maxSplits: 3) { $0 <= 0x20 }.map { String(decoding: $0, as: UTF8.self) }
    guard words.count >= 3, words[0].wholeMatch(of: /P[1-6]/) != nil else { return false }
    return words[1].hasPrefix("#") || words[1...2].allSatisfy { $0.wholeMatch(of: /[0-9]+/) != nil }
  }

  private static func description(_ header: [UInt8]) -> String {
    let signatures: [(bytes: [UInt8], words: String)] = [
      (Array("%PDF".utf8), "a PDF document"), ([0x50, 0x4B, 3, 4], "a ZIP archive"), ([0x1F, 0x8B], "a gzip file"),
      (Array("bplist".utf8), "a property list"), ([0x1A, 0x45, 0xDF, 0xA3], "a WebM or Matroska video"),
    ]
    for signature in signatures where header.starts(with: signature.bytes) { return signature.words }
    if header.dropFirst(4).starts(with: "ftyp".utf8) { return "an MP4 video" }
    let text = lowercasedText(header)
    if text.hasPrefix("<!doctype html") || text.contains("<html") || text.contains("<head") || text.contains("<body") {
      return "an HTML page"
    }
    if text.hasPrefix("<?xml") { return "an XML document" }
    if text.hasPrefix("{") || text.hasPrefix("[") { return "JSON" }
    if header.allSatisfy({ $0 >= 0x20 || (0x08...0x0D).contains($0) || $0 == 0x1B }) { return "plain text" }
    let digits = Array("0123456789abcdef")
    let bytes = header.prefix(8).map { "\(digits[Int($0 >> 4)])\(digits[Int($0 & 15)])" }
    return "unknown binary data (\(bytes.joined(separator: " ")))"
  }

  /// The header as text without byte-order mark and leading white space, ASCII letters in lower case.
  private static func lowercasedText(_ header: [UInt8]) -> String {
    let body = header.starts(with: [0xEF, 0xBB, 0xBF]) ? header.dropFirst(3) : header[...]
    return String(decoding: body.drop { $0 <= 0x20 }, as: UTF8.self).lowercased()
  }
}
