/// The scans of a JPEG file (ITU-T T.81 annex B): what follows the header of the first one, up to the end of the picture.
struct JPEGScans {
  /// The segments between scans that can hold metadata, in order; more than `CopiedParts.limit` are not listed.
  private(set) var segments: [JPEGHeader.Segment] = []
  /// The offset after the picture's end; nil when the file ends before.
  private(set) var end: Int64?

  /// How many markers in coded data that begin no segment are examined. An intact picture has none.
  private static let maxStrayMarkers = 1000

  /// Finds the end of the picture.
  /// - Throws: `io`.
  init(_ file: FileReader, after header: JPEGHeader) throws(ImagingError) {
    var reader = header.reader
    var strayMarkers = 0
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
        let content = reader.offset + 2
        guard let segmentEnd = try Self.segmentEnd(file, content, isScan: marker == 0xDA) else {
          strayMarkers += 1
          continue
        }
        reader.skip(Int(segmentEnd - reader.offset))
        if marker >= 0xE0, segments.count < CopiedParts.limit {
          segments.append(JPEGHeader.Segment(marker: marker, start: start, content: content, end: segmentEnd))
        }
      // Coded data: a stuffed byte, a restart, or damage.
      default: continue
      }
    }
  }

  /// The offset after a segment; nil when no marker follows it: then it is coded data that is damaged.
  private static func segmentEnd(_ file: FileReader, _ content: Int64, isScan: Bool) throws(ImagingError) -> Int64? {
    let length = try file.bytes(2, at: content - 2)
    guard length.count == 2, length.bigEndianInteger >= 2 else { return nil }
    let end = content + Int64(length.bigEndianInteger - 2)
    guard !isScan else { return end }
    let next = try file.bytes(2, at: end)
    return next.count == 2 && next[0] == 0xFF && next[1] != 0 ? end : nil
  }
}
