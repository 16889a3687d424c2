/// Decides which segments of a JPEG file a copy keeps. It always keeps those that the pixels depend on: JFIF, Adobe's colour
/// transform, and colour profiles.
struct JPEGSegmentFilter {
  /// The decision on a segment.
  enum Verdict: Equatable {
    case keep, drop
    /// Its content is replaced.
    case replace([UInt8])
  }

  /// Whether EXIF was dropped because it could not be read.
  private(set) var hasUnreadableMetadata = false

  private let policy: MetadataPolicy
  private var (hasExif, hasIPTC) = (false, false)

  private static let adobeIdentifier = Array("Adobe".utf8)
  /// The lengths of JFIF without a thumbnail and of Adobe's segment. libjpeg ignores shorter ones.
  private static let (jfifBytes, adobeBytes) = (14, 12)
  private static let adobeMarker = 0xEE

  init(_ policy: MetadataPolicy) { self.policy = policy }

  /// The verdict on the next segment.
  /// - Parameter marker: 0xE0…0xEF, or 0xFE for a comment; 0 for bytes that belong to no segment.
  mutating func verdict(on marker: UInt8, _ content: [UInt8]) -> Verdict {
    // It points behind the picture's end.
    let isIndex = MultiPictureIndex.isHeld(in: Int(marker), content)
    guard policy != .all else { return isIndex ? .drop : .keep }
    switch Int(marker) {
    case JPEGSegment.app0: return Self.jfif(content)
    case JPEGSegment.app1: return exif(content)
    case JPEGSegment.app2: return content.starts(with: JPEGSegment.iccIdentifier) ? .keep : .drop
    case JPEGSegment.app13: return iptc(content)
    case Self.adobeMarker:
      guard content.starts(with: Self.adobeIdentifier), content.count >= Self.adobeBytes else { return .drop }
      return Self.verdict(on: content, keeping: Array(content.prefix(Self.adobeBytes)))
    default: return .drop
    }
  }

  /// JFIF is kept without its thumbnail.
  private static func jfif(_ content: [UInt8]) -> Verdict {
    guard content.starts(with: JPEGSegment.jfifIdentifier), content.count >= jfifBytes else { return .drop }
    return verdict(on: content, keeping: content.prefix(jfifBytes - 2) + [0, 0])
  }

  /// Only the first EXIF stream counts.
  private mutating func exif(_ content: [UInt8]) -> Verdict {
    guard content.starts(with: Exif.identifier), !hasExif else { return .drop }
    hasExif = true
    let bytes = Array(content.dropFirst(Exif.identifier.count))
    guard let exif = Exif(bytes), exif.isReadable else {
      hasUnreadableMetadata = true
      return .drop
    }
    return Self.verdict(on: content, keeping: exif.reduced(to: policy).map { Exif.identifier + $0.bytes })
  }

  private mutating func iptc(_ content: [UInt8]) -> Verdict {
    guard policy == .copyright, content.starts(with: JPEGSegment.photoshopIdentifier), !hasIPTC,
      let dataSets = IPTC.dataSets(inResources: content.dropFirst(JPEGSegment.photoshopIdentifier.count))
    else { return .drop }
    hasIPTC = true
    let rights = IPTC.copyrightOnly(dataSets)
    return Self.verdict(
      on: content, keeping: rights.map { JPEGSegment.photoshopIdentifier + IPTC.resources($0) })
  }

  /// - Parameter kept: The content that is kept; nil for nothing.
  private static func verdict(on content: [UInt8], keeping kept: [UInt8]?) -> Verdict {
    guard let kept, kept.count <= JPEGSegment.capacity else { return .drop }
    return kept == content ? .keep : .replace(kept)
  }
}
