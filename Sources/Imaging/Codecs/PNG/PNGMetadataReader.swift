/// Reads the metadata of a PNG file from all its chunks, before and after the pixels; those with a wrong checksum are left
/// out, as libpng leaves them out. Of profiles and of XMP packets the first counts, also when it is invalid. Stops without an
/// error at invalid chunks, which the decoder reports.
enum PNGMetadataReader {
  /// Reads the metadata of an open file, whose offset does not change.
  static func metadata(of descriptor: Int32) -> Metadata {
    let file = FileReader(descriptor)
    func bytes(_ count: Int, at offset: Int64) -> [UInt8] { (try? file.bytes(count, at: offset)) ?? [] }
    var metadata = Metadata()
    // The first that is EXIF counts, where there is no other EXIF, before or after it.
    var (rawProfile, hasRawProfile): (PNGRawProfile?, Bool) = (nil, false)
    // Expanding takes the time of many more bytes than a chunk has: one of a name is.
    var expanded: Set<[UInt8]> = []
    var offset: Int64 = 8
    for _ in 0..<PNGChunk.maxCount {
      let head = bytes(8, at: offset)
      guard head.count == 8 else { break }
      let length = head[..<4].bigEndianInteger
      let name = Array(head[4...])
      guard name != PNGChunk.end else { break }
      let isRaw =
        !hasRawProfile && PNGChunk.isText(name)
        && PNGRawProfile.isHeld(in: name, bytes(min(length, PNGRawProfile.keywordBytes), at: offset + 8))
        && PNGRawProfile.isEXIF(name, bytes(min(length, PNGRawProfile.headBytes), at: offset + 8))
      hasRawProfile = hasRawProfile || isRaw
      if isRaw || PNGChunk.isMetadata(name), length <= ImageLimits.maxMetadataBytes {
        let content = bytes(length, at: offset + 8)
        let checksum = bytes(4, at: offset + 8 + Int64(length)).bigEndianInteger
        if content.count == length, checksum == PNGChunk.checksum(name, content) {
          if isRaw { rawProfile = PNGRawProfile(name, content) }
          let isRepeated = PNGChunk.mayBeCompressed(name, content) && !expanded.insert(name).inserted
          if !isRepeated, let item = PNGChunk.item(of: name, bytes: content, limit: metadata.room) {
            metadata.append(item)
          }
        }
      }
      offset += Int64(length) + 12
    }
    if let rawProfile { metadata.append(.exif(rawProfile.exif)) }
    return metadata.resolvingCICP
  }
}
