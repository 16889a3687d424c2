/// The layout of a PNG file (W3C PNG, third edition): its chunks, the end of the picture, and the rest.
struct PNGStructure: PictureStructure {
  let info: ImageInfo
  let damage: PictureDamage?
  let decodingError: ImagingError?
  private let file: FileReader

  /// The chunk at an offset.
  private struct ChunkHeader {
    let name: [UInt8]
    let start: Int64
    let length: Int

    var end: Int64 { start + Int64(length) + 12 }
  }

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    self.file = file
    let header = try PNGHeader(file, limits: limits)
    (damage, decodingError) = (header.damage, header.decodingError)
    info = ImageInfo(format: .png, width: header.width, height: header.height, frames: header.frames)
  }

  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    let size = try file.size()
    var (parts, hasExif, hasRawProfile, hasUnknownProfile, count) = (CopiedParts(), false, false, false, 0)
    var hasEnd = false
    var reader = SequentialReader(file, at: 8)
    while let chunk = try Self.nextChunk(&reader), chunk.end <= size {
      count += 1
      try PNGChunk.check(count: count)
      try parts.keep(upTo: chunk.start)
      if chunk.name == PNGChunk.exif, policy != .all {
        let content = try usedContent(of: chunk)
        try appendExif(chunk, content, isFirst: !hasExif, policy, to: &parts)
        hasExif = hasExif || content != nil
      } else if policy != .all, try Self.isRawProfile(chunk, &reader) {
        let head = try file.bytes(min(PNGRawProfile.headBytes, chunk.length), at: chunk.start + 8)
        let isEXIF = PNGRawProfile.isEXIF(chunk.name, head)
        try appendRawProfile(chunk, isUsed: isEXIF && !hasExif && !hasRawProfile, policy, to: &parts)
        hasUnknownProfile = hasUnknownProfile || !isEXIF && PNGRawProfile.isCalledEXIF(head)
        hasRawProfile = hasRawProfile || isEXIF
      } else if try Self.isKept(chunk, policy, &reader) {
        try parts.keep(upTo: chunk.end)
      } else {
        parts.drop(upTo: chunk.end)
      }
      hasEnd = chunk.name == PNGChunk.end
      if hasEnd { break }
      reader.skip(chunk.length + 4)
    }
    if !hasEnd { try keepRest(to: size, policy, &parts) }
    if hasUnknownProfile, !hasExif { parts.hasUnreadableMetadata = true }
    return parts
  }

  /// The next chunk; nil at the end, or when the next bytes are not a chunk.
  private static func nextChunk(_ reader: inout SequentialReader) throws(ImagingError) -> ChunkHeader? {
    let start = reader.offset
    guard let head = try reader.next(8), head.suffix(4).allSatisfy(PNGChunk.isLetter) else { return nil }
    return ChunkHeader(name: Array(head.suffix(4)), start: start, length: head.prefix(4).bigEndianInteger)
  }

  /// The end of a file without IEND: an incomplete chunk, or bytes that no decoder reads. Only pixels are kept.
  private func keepRest(to size: Int64, _ policy: MetadataPolicy, _ parts: inout CopiedParts) throws(ImagingError) {
    let name = try file.bytes(4, at: parts.offset + 4)
    if policy == .all || name.isEmpty || name == PNGChunk.data || name == PNGChunk.frameData {
      try parts.keep(upTo: size)
    } else {
      parts.hasUnreadableMetadata = true
    }
  }

  /// - Parameter reader: A reader at the chunk's content, which does not move.
  private static func isKept(
    _ chunk: ChunkHeader, _ policy: MetadataPolicy, _ reader: inout SequentialReader
  ) throws(ImagingError) -> Bool {
    guard policy != .all, PNGChunk.isAncillary(chunk.name), !PNGChunk.affectsPixels(chunk.name) else { return true }
    guard policy == .copyright, PNGChunk.isText(chunk.name) else { return false }
    let keyword = try reader.peek(min(PNGChunk.maxKeyword + 1, chunk.length))?.prefix { $0 != 0 }
    return keyword.map { PNGChunk.rightsKeywords.contains(Array($0)) } ?? false
  }

  private static func isRawProfile(_ chunk: ChunkHeader, _ reader: inout SequentialReader) throws(ImagingError) -> Bool
  {
    guard PNGChunk.isText(chunk.name) else { return false }
    return PNGRawProfile.isHeld(
      in: chunk.name, try reader.peek(min(PNGRawProfile.keywordBytes, chunk.length)) ?? [])
  }

  /// The content of a chunk of metadata that the decoder uses; nil when it is too long, or its checksum is wrong.
  private func usedContent(of chunk: ChunkHeader) throws(ImagingError) -> [UInt8]? {
    guard chunk.length <= ImageLimits.maxMetadataBytes else { return nil }
    let content = try file.bytes(chunk.length, at: chunk.start + 8)
    let checksum = try file.bytes(4, at: chunk.end - 4)
    let isUsed =
      content.count == chunk.length && checksum.count == 4
      && checksum.bigEndianInteger == PNGChunk.checksum(chunk.name, content)
    return isUsed ? content : nil
  }

  /// Whether there is a chunk of metadata of a name that the decoder uses, at an offset or after it.
  private func hasUsedChunk(_ name: [UInt8], from offset: Int64) throws(ImagingError) -> Bool {
    var reader = SequentialReader(file, at: offset)
    for _ in 0..<PNGChunk.maxCount {
      guard let chunk = try Self.nextChunk(&reader), chunk.name != PNGChunk.end else { return false }
      if chunk.name == name, try usedContent(of: chunk) != nil { return true }
      reader.skip(chunk.length + 4)
    }
    return false
  }

  /// EXIF in a text remains in a text, so that readers which do not know it show the copy as they show the source. The first text
  /// that is EXIF counts, and only without an `eXIf`.
  private func appendRawProfile(
    _ chunk: ChunkHeader, isUsed: Bool, _ policy: MetadataPolicy, to parts: inout CopiedParts
  ) throws(ImagingError) {
    guard isUsed, try !hasUsedChunk(PNGChunk.exif, from: chunk.end) else { return parts.drop(upTo: chunk.end) }
    guard let content = try usedContent(of: chunk), let profile = PNGRawProfile(chunk.name, content),
      let exif = Exif(profile.exif), exif.isReadable
    else {
      parts.hasUnreadableMetadata = true
      return parts.drop(upTo: chunk.end)
    }
    guard let kept = exif.reduced(to: policy).map(profile.text) else { return parts.drop(upTo: chunk.end) }
    if chunk.name == PNGChunk.plainText, kept == content {
      try parts.keep(upTo: chunk.end)
    } else {
      try parts.replace(upTo: chunk.end, by: PNGChunk.encoded(PNGChunk.plainText, kept))
    }
  }

  /// Only the first EXIF stream counts.
  /// - Parameter content: nil when the decoder does not use it.
  private func appendExif(
    _ chunk: ChunkHeader, _ content: [UInt8]?, isFirst: Bool, _ policy: MetadataPolicy, to parts: inout CopiedParts
  ) throws(ImagingError) {
    guard isFirst else { return parts.drop(upTo: chunk.end) }
    guard let content, let exif = Exif(content), exif.isReadable else {
      parts.hasUnreadableMetadata = true
      return parts.drop(upTo: chunk.end)
    }
    guard let kept = exif.reduced(to: policy) else { return parts.drop(upTo: chunk.end) }
    if kept.bytes == content {
      try parts.keep(upTo: chunk.end)
    } else {
      try parts.replace(upTo: chunk.end, by: PNGChunk.encoded(chunk.name, kept.bytes))
    }
  }
}
