/// Reads the metadata of a JPEG file from the segments before the first scan. Stops without an error at invalid segments,
/// which the decoder reports.
struct JPEGMetadataReader {
  private let file: FileReader
  private var offset: Int64 = 2
  private var metadata = Metadata()
  private var profile: [[UInt8]] = []
  private var profileBytes = 0
  /// The number of pictures that the first index says; nil without one.
  private var pictureCount: Int?

  /// The largest number of segments that are read.
  private static let maxSegments = 2000

  private init(_ file: FileReader) { self.file = file }

  /// Reads the metadata of an open file, whose offset does not change, and the number of pictures in it.
  static func metadata(of descriptor: Int32) -> (metadata: Metadata, frames: Int) {
    var reader = JPEGMetadataReader(FileReader(descriptor))
    reader.readSegments()
    reader.appendProfile()
    return (reader.metadata, reader.frames)
  }

  /// Reads the number of pictures in a file.
  static func frames(in file: FileReader) -> Int {
    var reader = JPEGMetadataReader(file)
    reader.readSegments()
    return reader.frames
  }

  private var frames: Int { pictureCount ?? 1 }

  private mutating func readSegments() {
    for _ in 0..<Self.maxSegments {
      guard readSegment() else { break }
    }
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
    // Markers without a segment (table B.1).
    if head[1] == 0x01 || 0xD0...0xD7 ~= head[1] {
      offset += 2
      return true
    }
    let length = head[2...3].bigEndianInteger
    guard length >= 2, ![0, 0xDA, 0xD9].contains(head[1]) else { return false }
    if [JPEGSegment.app0, JPEGSegment.app1, JPEGSegment.app2, JPEGSegment.app13].contains(Int(head[1])) {
      append(bytes(length - 2, at: offset + 4), marker: Int(head[1]))
    }
    offset += Int64(2 + length)
    return true
  }

  private mutating func append(_ content: [UInt8], marker: Int) {
    if marker == JPEGSegment.app0 {
      if let density = JPEGSegment.density(inJFIF: content) { metadata.append(.density(density)) }
    } else if MultiPictureIndex.isHeld(in: marker, content) {
      pictureCount = pictureCount ?? MultiPictureIndex.count(in: content)
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
