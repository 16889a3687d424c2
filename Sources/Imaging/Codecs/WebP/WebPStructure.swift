/// The layout of a WebP file (RFC 9649): its chunks, and the rest.
struct WebPStructure: PictureStructure {
  let info: ImageInfo
  private let file: WebPFile

  /// The chunks of the picture, and those that affect how it looks.
  private static let pixelChunks: Set<String> = ["VP8X", "VP8 ", "VP8L", "ALPH", "ANIM", "ANMF", "ICCP"]
  /// The flags of `VP8X` for chunks with metadata (§ 2.7.1).
  private static let (exifFlag, xmpFlag): (UInt8, UInt8) = (0x08, 0x04)

  init(_ file: FileReader, limits: ImageLimits) throws(ImagingError) {
    self.file = try WebPFile(file)
    let container = try WebPContainer(self.file, readsMetadata: false)
    try limits.check(width: container.width, height: container.height)
    info = ImageInfo(format: .webp, width: container.width, height: container.height, frames: container.frames)
  }

  func copiedParts(_ policy: MetadataPolicy) throws(ImagingError) -> CopiedParts {
    var body = Body()
    if policy != .all { try readBody(&body, policy) }
    guard body.isChanged else {
      var whole = CopiedParts()
      try whole.keep(upTo: file.end)
      return whole
    }
    return try assembled(body)
  }

  /// The chunks that are kept.
  private struct Body {
    var parts = CopiedParts()
    var (hasExif, keepsExif, isChanged) = (false, false, false)
  }

  private func readBody(_ body: inout Body, _ policy: MetadataPolicy) throws(ImagingError) {
    body.parts.drop(upTo: WebPFile.firstChunk)
    while let chunk = try file.chunk(at: body.parts.offset, before: file.end) {
      // The padding of the last chunk may be missing.
      let end = min(chunk.end, file.end)
      if Self.pixelChunks.contains(chunk.name) {
        try body.parts.keep(upTo: end)
        if end < chunk.end { try body.parts.replace(upTo: chunk.end, by: [0]) }
      } else {
        try appendMetadata(chunk, upTo: end, to: &body, policy)
      }
      // A file without VP8X has one chunk.
      if chunk.start == WebPFile.firstChunk, chunk.name != "VP8X" { break }
    }
    body.isChanged = body.isChanged || body.parts.offset < file.end
    body.parts.drop(upTo: file.end)
  }

  /// Only the first EXIF stream counts.
  private func appendMetadata(
    _ chunk: WebPChunk, upTo end: Int64, to body: inout Body, _ policy: MetadataPolicy
  ) throws(ImagingError) {
    if chunk.name == "EXIF", !body.hasExif {
      body.hasExif = true
      let isRead = chunk.count <= ImageLimits.maxMetadataBytes
      let content = isRead ? try file.bytes(chunk.count, at: chunk.content) : []
      let exif = Exif(WebPContainer.exif(in: content)).flatMap { $0.isReadable ? $0 : nil }
      body.parts.hasUnreadableMetadata = exif == nil
      if let kept = exif?.reduced(to: policy) {
        body.keepsExif = true
        if kept.bytes == content, end == chunk.end { return try body.parts.keep(upTo: end) }
        body.isChanged = true
        return try body.parts.replace(upTo: chunk.end, by: WebPChunk.encoded(chunk.name, kept.bytes))
      }
    }
    body.isChanged = true
    body.parts.drop(upTo: chunk.end)
  }

  /// A file of these chunks: with its new size, and with the flags of the metadata that it still has.
  private func assembled(_ body: Body) throws(ImagingError) -> CopiedParts {
    let size = body.parts.parts.reduce(4) { sum, part in
      switch part {
      case .range(let range): sum + range.count
      case .bytes(let bytes): sum + bytes.count
      case .zeros(let count): sum + count
      }
    }
    var result = CopiedParts()
    result.hasUnreadableMetadata = body.parts.hasUnreadableMetadata
    try result.replace(
      upTo: WebPFile.firstChunk, by: Array("RIFF".utf8) + [UInt8](littleEndian: size, count: 4) + Array("WEBP".utf8))
    if let first = try file.chunk(at: WebPFile.firstChunk, before: file.end), first.name == "VP8X", first.count > 0 {
      var head = try file.bytes(9, at: first.start)
      head[8] = head[8] & ~(Self.exifFlag | Self.xmpFlag) | (body.keepsExif ? Self.exifFlag : 0)
      try result.replace(upTo: first.content + 1, by: head)
    }
    for part in body.parts.parts {
      switch part {
      case .range(let range):
        result.drop(upTo: range.lowerBound)
        try result.keep(upTo: range.upperBound)
      case .bytes(let bytes): try result.replace(upTo: result.offset, by: bytes)
      case .zeros(let count): try result.replace(upTo: result.offset, by: [UInt8](repeating: 0, count: count))
      }
    }
    return result
  }
}
