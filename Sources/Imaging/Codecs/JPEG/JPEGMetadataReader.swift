/// Reads the metadata of a JPEG file from the segments before the first scan. Stops without an error at invalid segments,
/// which the decoder reports.
struct JPEGMetadataReader {
  private let file: FileReader
  private var offset: Int64 = 2
  private var metadata = Metadata()
  private var profile: [[UInt8]] = []
  private var profileBytes = 0

  /// The largest number of segments that are read.
  private static let maxSegments = 2000

  private init(_ descriptor: Int32) { file = FileReader(descriptor) }

  /// Reads the metadata of an open file, whose offset does not change.
  static func metadata(of descriptor: Int32) -> Metadata {
    var reader = JPEGMetadataReader(descriptor)
    for _ in 0..<maxSegments {
      guard reader.readSegment() else { break }
    }
    reader.appendProfile()
    return reader.metadata
  }

  /// Reads a segment; returns false at the first scan and when there is none.
  private mutating func readSegment() -> Bool {
    let head = bytes(4, at: offset)
    guard head.count == 4, head[0] == 0xFF else { return false }
    // Fill bytes (T.81 § B.1.1.2) may precede a marker.
    if head[1] == 0xFF {
      offset += 1
      return true
    }
    let length = head[2...3].bigEndianInteger
    guard length >= 2, head[1] != 0xDA, head[1] != 0xD9 else { return false }
    if [JPEGSegment.app0, JPEGSegment.app1, JPEGSegment.app2, JPEGSegment.app13].contains(Int(head[1])) {
      append(bytes(length - 2, at: offset + 4), marker: Int(head[1]))
    }
    offset += Int64(2 + length)
    return true
  }

  private mutating func append(_ content: [UInt8], marker: Int) {
    if marker == JPEGSegment.app0 {
      if let density = JPEGSegment.density(inJFIF: content) { metadata.append(.density(density)) }
    } else if marker == JPEGSegment.app2 {
      guard content.starts(with: JPEGSegment.iccIdentifier) else { return }
      profileBytes += content.count
      if profileBytes <= ImageLimits.maxMetadataBytes { profile.append(content) }
    } else if marker == JPEGSegment.app13 {
      guard content.starts(with: JPEGSegment.photoshopIdentifier) else { return }
      let resources = content.dropFirst(JPEGSegment.photoshopIdentifier.count)
      if let dataSets = IPTC.dataSets(inResources: resources) { metadata.append(.iptc(dataSets)) }
    } else if content.starts(with: Exif.identifier) {
      metadata.append(.exif(Array(content.dropFirst(Exif.identifier.count))))
    } else if content.starts(with: JPEGSegment.xmpIdentifier) {
      metadata.append(.xmp(Array(content.dropFirst(JPEGSegment.xmpIdentifier.count))))
    } else if content.starts(with: JPEGSegment.extendedXMPIdentifier) {
      metadata.append(.extendedXMP(content))
    }
  }

  /// Joins the parts of the profile; a profile with missing parts is dropped.
  private mutating func appendProfile() {
    let numberAt = JPEGSegment.iccIdentifier.count
    guard let first = profile.first, first.count >= numberAt + 2, Int(first[numberAt + 1]) == profile.count else {
      return
    }
    var parts: [Int: ArraySlice<UInt8>] = [:]
    for part in profile where part.count >= numberAt + 2 {
      parts[Int(part[numberAt])] = part.dropFirst(numberAt + 2)
    }
    var whole: [UInt8] = []
    for number in 1...profile.count {
      guard let part = parts[number] else { return }
      whole += part
    }
    metadata.append(.icc(whole))
  }

  private func bytes(_ count: Int, at offset: Int64) -> [UInt8] { (try? file.bytes(count, at: offset)) ?? [] }
}
