import Glibc

/// Reads the metadata of a JPEG file: walks over the segments before the first scan. What is out of order ends the walk
/// without an error; whether the file is sound is for the decoder to say.
struct JPEGMetadataReader {
  private let descriptor: Int32
  private var offset: Int64 = 2
  private var metadata = Metadata()
  private var profile: [[UInt8]] = []
  private var profileBytes = 0

  /// Segments looked at, at most.
  private static let maxSegments = 2000

  private init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The metadata of the file behind a descriptor, which stays where it is (pread(2)).
  static func metadata(of descriptor: Int32) -> Metadata {
    var reader = JPEGMetadataReader(descriptor)
    for _ in 0..<maxSegments {
      guard reader.readSegment() else { break }
    }
    reader.appendProfile()
    return reader.metadata
  }

  /// Reads a segment; false at the first scan and where there is none.
  private mutating func readSegment() -> Bool {
    let head = bytes(4, at: offset)
    guard head.count == 4, head[0] == 0xFF else { return false }
    // Fill bytes (T.81 § B.1.1.2) may precede a marker.
    if head[1] == 0xFF {
      offset += 1
      return true
    }
    let length = Int(head[2]) << 8 | Int(head[3])
    guard length >= 2, head[1] != 0xDA, head[1] != 0xD9 else { return false }
    if [JPEGSegment.app0, JPEGSegment.app1, JPEGSegment.app2, JPEGSegment.app13].contains(Int(head[1])) {
      take(bytes(length - 2, at: offset + 4), marker: Int(head[1]))
    }
    offset += Int64(2 + length)
    return true
  }

  private mutating func take(_ content: [UInt8], marker: Int) {
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
    } else if content.starts(with: JPEGSegment.exifIdentifier) {
      metadata.append(.exif(Array(content.dropFirst(JPEGSegment.exifIdentifier.count))))
    } else if content.starts(with: JPEGSegment.xmpIdentifier) {
      metadata.append(.xmp(Array(content.dropFirst(JPEGSegment.xmpIdentifier.count))))
    } else if content.starts(with: JPEGSegment.extendedXMPIdentifier) {
      metadata.append(.extendedXMP(content))
    }
  }

  /// Puts the parts of the profile together; a profile with a missing part is none.
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

  private func bytes(_ count: Int, at offset: Int64) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let read = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(offset)) }
    buffer.removeSubrange(max(read, 0)...)
    return buffer
  }
}
