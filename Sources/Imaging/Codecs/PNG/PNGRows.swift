import CDeflate

/// Filters the rows of a PNG and compresses them with libdeflate, all at once.
final class PNGRows {
  private let rows: OpaquePointer

  /// The most bytes of rows that are held: those of 2.8 megapixels of 8 bits without alpha.
  private static let maxBytes = 8 << 20

  /// - Returns: nil when the rows of a picture have too many bytes.
  /// - Throws: `image-too-large` when the system has not enough memory.
  init?(_ size: PictureSize, _ layout: PixelLayout) throws(ImagingError) {
    let hasFiller = !layout.isGrey && !layout.hasAlpha
    let samples = (layout.isGrey ? 1 : 3) + (layout.hasAlpha ? 1 : 0)
    let bytes = layout.is16Bit ? 2 : 1
    guard size.height <= Self.maxBytes / (size.width * samples * bytes + 1) else { return nil }
    let stored = cdeflate_layout(
      width: size.width, height: size.height, samples: Int32(samples), sample_bytes: Int32(bytes),
      has_filler: hasFiller ? 1 : 0)
    guard let rows = cdeflate_open(stored) else { throw Self.noMemory }
    self.rows = rows
  }

  deinit { cdeflate_close(rows) }

  /// Takes a row of packed pixels.
  func add(_ row: UnsafeRawPointer) { cdeflate_add(rows, row) }

  /// Compresses all rows, and writes the result in pieces.
  /// - Throws: `image-too-large` when the system has not enough memory; what `write` throws.
  func finish(_ write: (UnsafeBufferPointer<UInt8>.SubSequence) throws(ImagingError) -> Void) throws(ImagingError) {
    var bytes: UnsafePointer<UInt8>?
    let count = cdeflate_finish(rows, &bytes)
    guard count > 0 else { throw Self.noMemory }
    let packed = UnsafeBufferPointer(start: bytes, count: count)
    for start in stride(from: 0, to: count, by: Self.pieceBytes) {
      try write(packed[start..<min(start + Self.pieceBytes, count)])
    }
  }

  /// Readers may hold a whole chunk.
  private static let pieceBytes = 64 << 10
  private static let noMemory = ImagingError(
    code: .imageTooLarge, message: "there is no memory for the rows of the result")
}
