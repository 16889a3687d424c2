/// Encodes PNG (W3C PNG, third edition): grey or colour, with or without alpha, 8 or 16 bits; or with a palette, when that is
/// asked for and loses nothing.
final class PNGEncoder: RowEncoder {
  private let descriptor: Int32
  private let settings: EncodeSettings
  private let packed: PackedRow
  /// The file; nil while the rows may still be stored as indices.
  private var writer: PNGWriter?
  /// The rows, while a palette has room for their colours; nil when none is asked for.
  private var indexed: IndexedPicture?

  /// The indices of a picture that may have a palette: it is known with the last row.
  static func wholePictureBytes(_ settings: EncodeSettings) -> Int {
    capacity(settings) == nil ? 0 : IndexedPicture.bytes(settings.info.size)
  }

  init(_ descriptor: Int32, _ settings: EncodeSettings) throws(ImagingError) {
    (self.descriptor, self.settings) = (descriptor, settings)
    packed = PackedRow(width: settings.info.width, layout: settings.layout)
    if let capacity = Self.capacity(settings) {
      indexed = try IndexedPicture(settings.info.size, settings.layout, capacity: capacity)
    } else {
      writer = try PNGWriter(descriptor, settings)
    }
  }

  func write(_ row: PixelRow, isCancelled: () -> Bool) throws(ImagingError) {
    row.pack(packed)
    if let indexed {
      if indexed.append(packed) { return }
      try writePixels(of: indexed, isCancelled: isCancelled)
      self.indexed = nil
    }
    try writer?.write(packed.bytes)
  }

  func finish(isCancelled: () -> Bool) throws(ImagingError) {
    if let indexed { try writeIndices(of: indexed, isCancelled: isCancelled) }
    try writer?.finish()
  }

  /// Writes the rows so far as they would have been without indices.
  private func writePixels(of picture: IndexedPicture, isCancelled: () -> Bool) throws(ImagingError) {
    let writer = try PNGWriter(descriptor, settings)
    let row = PackedRow(width: settings.info.width, layout: settings.layout)
    for index in 0..<picture.count {
      if index % DecodedRows.rowsBetweenChecks == 0, isCancelled() { throw .cancelled }
      picture.copyRow(index, to: row)
      try writer.write(row.bytes)
    }
    self.writer = writer
  }

  private func writeIndices(of picture: IndexedPicture, isCancelled: () -> Bool) throws(ImagingError) {
    let palette = picture.palette
    let writer = try PNGWriter(descriptor, settings, palette: palette.colours)
    for index in 0..<picture.count {
      if index % DecodedRows.rowsBetweenChecks == 0, isCancelled() { throw .cancelled }
      picture.copyIndices(index, in: palette, to: packed.bytes.assumingMemoryBound(to: UInt8.self))
      try writer.write(packed.bytes)
    }
    self.writer = writer
  }

  /// Larger pictures get no palette, so that those with more colours need no memory.
  private static let maxIndices = 256 << 20

  /// The most colours of a palette; nil when there shall or can be none, as with a profile for grey (§ 11.3.2.3).
  private static func capacity(_ settings: EncodeSettings) -> Int? {
    guard settings.pngPalette == .lossless, IndexedPicture.bytes(settings.info.size) <= maxIndices else { return nil }
    let hasProfile = settings.metadata.items.contains { if case .icc = $0 { true } else { false } }
    return settings.layout.isGrey && hasProfile ? nil : IndexedPicture.capacity(for: settings.layout)
  }
}
