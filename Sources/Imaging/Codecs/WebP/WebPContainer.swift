/// The contents of a WebP file (RFC 9649), read from its chunks: the position of the first frame, and the metadata.
struct WebPContainer {
  /// The first frame of an animation, or the picture.
  struct Frame {
    /// Position on the canvas, from its upper left corner.
    var column = 0, row = 0
    let width, height: Int
    let hasAlpha, isLossless: Bool
    /// The chunks that are passed to libwebp, with their headers: `ALPH` and `VP8 `, or `VP8L`.
    let chunks: [WebPChunk]
  }

  /// The size of the canvas.
  let width, height: Int
  let frame: Frame
  /// The number of frames; 1 for still pictures.
  let frames: Int
  let metadata: Metadata

  /// The largest number of chunks that are read of a file, and of its first frame.
  private static let maxChunks = 100_000
  /// The largest number of bytes of a bit stream's header, with that of its chunk.
  private static let headBytes = 8 + WebPStreamHeader.maxBytes

  /// The contents of `VP8X`.
  private struct Canvas {
    let width, height: Int
    let isAnimation: Bool
  }

  /// Reads the chunks of a file, without libwebp. Allocates no memory for pixels.
  /// - Parameter readsMetadata: Whether metadata is read; if not, there is none.
  /// - Throws: `image-truncated`, `image-corrupt`, `io`.
  init(_ file: WebPFile, readsMetadata: Bool = true) throws(ImagingError) {
    var (offset, canvas, metadata) = (WebPFile.firstChunk, Canvas?.none, Metadata())
    var (pieces, frame, frames, walked) = ([WebPChunk](), Frame?.none, 0, 0)
    while let chunk = try file.chunk(at: offset, before: file.end) {
      walked += 1
      try Self.check(count: walked)
      offset = chunk.end
      switch chunk.name {
      case "VP8X" where walked == 1: canvas = try Self.canvas(try file.bytes(10, at: chunk.content))
      case "ANMF" where canvas?.isAnimation == true:
        frames += 1
        if frame == nil { frame = try Self.frame(of: chunk, file) }
      case "ALPH" where pieces.isEmpty && frame == nil && canvas?.isAnimation == false: pieces = [chunk]
      case "VP8 ", "VP8L":
        guard frame == nil, canvas?.isAnimation != true else { break }
        frame = try Self.frame(pieces + [chunk], file)
      case "ICCP" where readsMetadata, "EXIF" where readsMetadata, "XMP " where readsMetadata:
        if let item = try Self.item(chunk, file) { metadata.append(item) }
      default: break
      }
      // A file without VP8X has one chunk.
      if canvas == nil { break }
    }
    guard let frame else { throw .webp("it has no picture") }
    (width, height) = (canvas?.width ?? frame.width, canvas?.height ?? frame.height)
    let isWithin = frame.column + frame.width <= width && frame.row + frame.height <= height
    let isWhole = frame.width == width && frame.height == height
    guard isWithin else { throw .webp("its first frame goes beyond its canvas of \(width) × \(height)") }
    guard isWhole || frames > 0 else {
      throw .webp("its canvas is \(width) × \(height), the picture \(frame.width) × \(frame.height)")
    }
    self.frame = frame
    self.frames = max(frames, 1)
    self.metadata = metadata
  }

  private static func check(count: Int) throws(ImagingError) {
    guard count <= maxChunks else { throw .webp("it has more than \(maxChunks) chunks") }
  }

  private static func canvas(_ bytes: [UInt8]) throws(ImagingError) -> Canvas {
    guard bytes.count == 10 else { throw .webp("its VP8X chunk is too short") }
    return Canvas(
      width: 1 + bytes[4..<7].littleEndianInteger, height: 1 + bytes[7..<10].littleEndianInteger,
      isAnimation: bytes[0] & 0x02 != 0)
  }

  /// Reads the frame in an `ANMF` chunk.
  private static func frame(of chunk: WebPChunk, _ file: WebPFile) throws(ImagingError) -> Frame {
    let head = try file.bytes(16, at: chunk.content)
    guard head.count == 16, chunk.count >= 16 else { throw .webp("its first frame is too short") }
    var (offset, pieces, walked) = (chunk.content + 16, [WebPChunk](), 0)
    while let part = try file.chunk(at: offset, before: chunk.content + Int64(chunk.count)) {
      walked += 1
      try check(count: walked)
      offset = part.end
      if part.name == "ALPH", pieces.isEmpty { pieces = [part] }
      guard part.name == "VP8 " || part.name == "VP8L" else { continue }
      var frame = try Self.frame(pieces + [part], file)
      guard frame.width == 1 + head[6..<9].littleEndianInteger, frame.height == 1 + head[9..<12].littleEndianInteger
      else {
        throw .webp("its first frame has another size than it says")
      }
      (frame.column, frame.row) = (2 * head[0..<3].littleEndianInteger, 2 * head[3..<6].littleEndianInteger)
      return frame
    }
    throw .webp("its first frame has no picture")
  }

  /// Reads the header of a bit stream; `chunks` are the bit stream's, after its `ALPH` chunk if there is one.
  private static func frame(_ chunks: [WebPChunk], _ file: WebPFile) throws(ImagingError) -> Frame {
    guard let stream = chunks.last else { throw .webp("it has no picture") }
    let head = try file.bytes(min(headBytes, 8 + stream.count), at: stream.start)
    let isLossless = stream.name == "VP8L"
    let content = head.dropFirst(8)
    guard let header = isLossless ? WebPStreamHeader(lossless: content) : WebPStreamHeader(lossy: content, of: stream)
    else { throw .webp("the head of its bit stream makes no sense") }
    return Frame(
      width: header.width, height: header.height, hasAlpha: isLossless ? header.hasAlpha : chunks.count > 1,
      isLossless: isLossless, chunks: isLossless ? [stream] : chunks)
  }

  private static func item(_ chunk: WebPChunk, _ file: WebPFile) throws(ImagingError) -> Metadata.Item? {
    guard chunk.count <= ImageLimits.maxMetadataBytes else { return nil }
    let bytes = try file.bytes(chunk.count, at: chunk.content)
    switch chunk.name {
    case "ICCP": return .icc(bytes)
    case "XMP ": return .xmp(bytes)
    default: return .exif(exif(in: bytes))
    }
  }

  /// The TIFF stream in a chunk `EXIF`: some writers keep JPEG's identifier.
  static func exif(in content: [UInt8]) -> [UInt8] {
    content.starts(with: Exif.identifier) ? Array(content.dropFirst(Exif.identifier.count)) : content
  }
}

extension ImagingError {
  static func webp(_ what: String) -> ImagingError {
    ImagingError(code: .imageCorrupt, message: "the WebP cannot be decoded: \(what)")
  }
}
