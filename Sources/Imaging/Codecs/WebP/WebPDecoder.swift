import CWebP

/// Decodes WebP (RFC 9649) with libwebp's incremental decoder: lossy and lossless; of an animation the first frame, on a
/// transparent canvas.
///
/// Rows are delivered as soon as they are decoded, but libwebp writes them to memory for the whole frame.
final class WebPDecoder: RowDecoder {
  let info: ImageInfo
  let layout: PixelLayout
  let isLossless: Bool
  let metadata: Metadata
  var chroma: ChromaSampling { isLossless ? .yuv444 : .yuv420 }

  private let container: WebPContainer
  private let memory: WholePictureMemory
  private let file: WebPFile
  private var block: WholePictureMemory.Block?
  private var codec: OpaquePointer?
  private var packed: PackedRow?
  private var accepted: AcceptedDamage
  private var (chunkIndex, offset, nextRow, knownRows, isComplete) = (0, Int64(0), 0, 0, false)

  /// The number of bytes that are passed to libwebp at a time.
  private static let bufferBytes = 64 << 10
  /// As much near damage of a lossless picture: with a piece that has damage no row of it is known.
  private static let smallBytes = 256

  init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) {
    file = try WebPFile(FileReader(descriptor))
    container = try WebPContainer(file)
    try limits.check(width: container.width, height: container.height)
    let frame = container.frame
    let isCovered = frame.width == container.width && frame.height == container.height
    info = ImageInfo(format: .webp, width: container.width, height: container.height, frames: container.frames)
    layout = PixelLayout(isGrey: false, hasAlpha: frame.hasAlpha || !isCovered, is16Bit: false)
    isLossless = frame.isLossless
    metadata = container.metadata
    memory = limits.memory
    accepted = AcceptedDamage(limits.damaged)
  }

  deinit { WebPIDelete(codec) }

  var damage: PictureDamage? { accepted.damage }

  /// The frame's pixels; libwebp holds a second copy of those of a lossless frame, and separately compressed alpha.
  var wholePictureBytes: Int {
    let pixels = container.frame.width * container.frame.height
    return pixels * (isLossless ? 8 : container.frame.hasAlpha ? 6 : 4)
  }

  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    let frame = container.frame
    let block = try memory.block(4 * frame.width * frame.height)
    self.block = block
    try open(block)
    packed = PackedRow(
      width: info.width, layout: PixelLayout(isGrey: false, hasAlpha: layout.hasAlpha, is16Bit: false))
  }

  private func open(_ block: WholePictureMemory.Block) throws(ImagingError) {
    let (width, height) = (container.frame.width, container.frame.height)
    WebPIDelete(codec)
    codec = WebPINewRGB(
      MODE_RGBA, block.start.assumingMemoryBound(to: UInt8.self), 4 * width * height, Int32(4 * width))
    guard codec != nil else { throw Self.failure(VP8_STATUS_OUT_OF_MEMORY) }
  }

  func read(into row: PixelRow) throws(ImagingError) {
    guard let packed, let block else { return }
    let frame = container.frame
    let index = nextRow - frame.row
    nextRow += 1
    if (0..<frame.height).contains(index) {
      try decode(untilRow: index)
    }
    if (0..<min(frame.height, knownRows)).contains(index) {
      packed.bytes.advanced(by: 4 * frame.column)
        .copyMemory(from: block.start + 4 * frame.width * index, byteCount: 4 * frame.width)
    } else {
      packed.clear()
    }
    row.unpack(packed)
  }

  func finish() throws(ImagingError) {
    do throws(ImagingError) {
      while !isComplete, !accepted.isAtEnd { try decodeMore() }
    } catch {
      try accept(error)
    }
  }

  /// Decodes until a row of the frame is known, or will never be.
  private func decode(untilRow index: Int) throws(ImagingError) {
    do throws(ImagingError) {
      while knownRows <= index, !accepted.isAtEnd { try decodeMore() }
    } catch {
      try accept(error)
    }
  }

  private func accept(_ error: ImagingError) throws(ImagingError) {
    try accepted.end(with: error, hasRows: knownRows > 0, .rows(knownRows, of: container.frame.height))
  }

  /// Passes the next bytes to libwebp.
  private func decodeMore() throws(ImagingError) {
    let chunks = container.frame.chunks
    guard !isComplete, chunkIndex < chunks.count else { throw .webp("its bit stream ends too early") }
    let chunk = chunks[chunkIndex]
    let (start, left) = (offset, chunk.end - chunk.start - offset)
    var bytes = try file.bytes(Int(min(left, Int64(Self.bufferBytes))), at: chunk.start + offset)
    // The padding of the last chunk may be missing.
    if Int64(bytes.count) == left - 1, left <= Self.bufferBytes { bytes.append(0) }
    guard !bytes.isEmpty else {
      throw ImagingError(code: .imageTruncated, message: "the WebP ends before its picture does")
    }
    offset += Int64(bytes.count)
    if offset == chunk.end - chunk.start { (chunkIndex, offset) = (chunkIndex + 1, 0) }
    let status = pass(bytes[...])
    isComplete = status == VP8_STATUS_OK
    guard isComplete || status == VP8_STATUS_SUSPENDED else {
      if isLossless, accepted.isPossible { try decodeAgain(chunk, with: bytes, at: start) }
      throw Self.failure(status)
    }
  }

  private func pass(_ bytes: ArraySlice<UInt8>) -> VP8StatusCode {
    let status = bytes.withUnsafeBufferPointer { WebPIAppend(codec, $0.baseAddress, $0.count) }
    // Also of damaged data, in front of the damage.
    var rows: Int32 = 0
    if WebPIDecGetRGB(codec, &rows, nil, nil, nil) != nil { knownRows = max(knownRows, Int(rows)) }
    return status
  }

  /// Decodes a lossless frame from its beginning to the damage, to know the rows in front of it.
  /// - Parameters:
  ///   - bytes: Those that have the damage.
  ///   - end: Where they begin in the chunk.
  private func decodeAgain(_ chunk: WebPChunk, with bytes: [UInt8], at end: Int64) throws(ImagingError) {
    guard let block else { return }
    try open(block)
    var status = VP8_STATUS_SUSPENDED
    for start in stride(from: 0, to: end, by: Self.bufferBytes) where status == VP8_STATUS_SUSPENDED {
      let count = Int(min(end - start, Int64(Self.bufferBytes)))
      status = pass(try file.bytes(count, at: chunk.start + start)[...])
    }
    for start in stride(from: 0, to: bytes.count, by: Self.smallBytes) where status == VP8_STATUS_SUSPENDED {
      status = pass(bytes[start..<min(start + Self.smallBytes, bytes.count)])
    }
  }

  private static func failure(_ status: VP8StatusCode) -> ImagingError {
    switch status {
    case VP8_STATUS_OUT_OF_MEMORY:
      ImagingError(code: .imageTooLarge, message: "there is no memory to decode the WebP")
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      ImagingError(code: .unsupportedFormat, message: "the WebP is of a kind that is not read")
    default: .webp("its bit stream is damaged")
    }
  }
}
