import Glibc

/// Reads the metadata of a PNG file: walks over its chunks, also over those behind the pixels. What is out of order ends
/// the walk without an error; whether the file is sound is for the decoder to say.
enum PNGMetadataReader {
  /// Chunks looked at, at most: what comes later than after 800 MB in chunks as libpng makes them is not found.
  private static let maxChunks = 100_000

  /// The metadata of the file behind a descriptor, which stays where it is (pread(2)).
  static func metadata(of descriptor: Int32) -> Metadata {
    var metadata = Metadata()
    var offset: Int64 = 8
    for _ in 0..<maxChunks {
      let head = bytes(8, of: descriptor, at: offset)
      guard head.count == 8 else { break }
      let length = head[..<4].reduce(0) { $0 << 8 | Int($1) }
      let name = Array(head[4...])
      guard name != PNGChunk.end else { break }
      if PNGChunk.isMetadata(name), length <= ImageLimits.maxMetadataBytes {
        let content = bytes(length, of: descriptor, at: offset + 8)
        if content.count == length, let item = PNGChunk.item(of: name, bytes: content) { metadata.append(item) }
      }
      offset += Int64(length) + 12
    }
    return metadata
  }

  private static func bytes(_ count: Int, of descriptor: Int32, at offset: Int64) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: count)
    let read = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, off_t(offset)) }
    buffer.removeSubrange(max(read, 0)...)
    return buffer
  }
}
