/// The scans of a JPEG file (ITU-T T.81 annex B): everything after the header of the first one, up to the end of the picture.
struct JPEGScans {
  /// The segments between scans that can hold metadata, in order, except those that a stray marker's length covers: without
  /// them, another position would decide whether that marker begins a segment, and the copy would be another picture.
  private(set) var segments: [JPEGHeader.Segment] = []
  /// The offset after the picture's end; nil when the file ends before.
  private(set) var end: Int64?

  /// The most stray markers that are examined: markers in coded data that begin no segment. An intact picture has none.
  private static let maxStrayMarkers = 1000

  /// Finds the end of the picture.
  /// - Throws: `image-too-large` when there are too many scans, `image-corrupt` when there are too many segments, `io`,
  ///   `cancelled`.
  init(after header: JPEGHeader) throws(ImagingError) {
    let size = PictureSize(width: header.width, height: header.height)
    var (reader, segmentCount, scanCount, strayMarkers) = (header.reader, header.segmentCount, 1, 0)
    // The end of the bytes that stray markers cover.
    var strayEnd: Int64 = 0
    while try reader.skip(past: 0xFF) {
      let start = reader.offset - 1
      guard var marker = try reader.next() else { return }
      while marker == 0xFF {
        guard let next = try reader.next() else { return }
        marker = next
      }
      switch marker {
      case 0xD9:
        end = reader.offset
        return
      // The header of the next scan, tables, DNL, DRI, applications, comments.
      case 0xC4, 0xCC, 0xDA...0xDD, 0xE0...0xEF, 0xFE:
        guard strayMarkers < Self.maxStrayMarkers else { continue }
        guard let length = try reader.peek(2)?.bigEndianInteger else { continue }
        let (content, segmentEnd) = (reader.offset + 2, reader.offset + Int64(length))
        guard try Self.skipSegment(&reader, length, isScan: marker == 0xDA) else {
          strayMarkers += 1
          strayEnd = max(strayEnd, segmentEnd)
          continue
        }
        if marker == 0xDA {
          scanCount += 1
          try ImageLimits.check(scans: scanCount, of: size)
        } else {
          segmentCount += 1
          try JPEGStructure.check(segments: segmentCount)
        }
        if marker >= 0xE0, start >= strayEnd {
          segments.append(JPEGHeader.Segment(marker: marker, start: start, content: content, end: segmentEnd))
        }
      // Coded data: a stuffed byte, a restart, or damage.
      default: continue
      }
    }
  }

  /// Skips a segment of this length, including its two bytes of length. Skips nothing and returns false when no marker follows:
  /// then it is damaged coded data.
  private static func skipSegment(
    _ reader: inout SequentialReader, _ length: Int, isScan: Bool
  ) throws(ImagingError) -> Bool {
    guard length >= 2 else { return false }
    var ahead = reader
    ahead.skip(length)
    if !isScan {
      guard let next = try ahead.peek(2), next.first == 0xFF, next.last != 0 else { return false }
    }
    reader = ahead
    return true
  }
}
