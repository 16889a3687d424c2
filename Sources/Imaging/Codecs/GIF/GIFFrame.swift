/// A frame of a GIF file, as its descriptor tells.
struct GIFFrame {
  /// Position on the canvas, from its upper left corner.
  let column, row: Int
  let width, height: Int
  let isInterlaced: Bool
  /// The 256 pixels of the indices, as bytes of red, green, blue and alpha in the order of memory: black for those without a
  /// colour, 0 for the transparent index.
  let pixels: [UInt32]
  /// Whether an index is transparent.
  let hasAlpha: Bool
  /// The offset of the frame's separator in the file.
  let offset: Int64

  /// - Parameters:
  ///   - descriptor: 9 bytes, after the separator.
  ///   - colours: The colour table that applies, of 3 bytes each.
  ///   - transparent: The transparent index.
  /// - Throws: `image-corrupt`.
  init(
    _ descriptor: [UInt8], at offset: Int64, colours: ArraySlice<UInt8>, transparent: Int?
  ) throws(ImagingError) {
    (column, row) = (descriptor[0..<2].littleEndianInteger, descriptor[2..<4].littleEndianInteger)
    (width, height) = (descriptor[4..<6].littleEndianInteger, descriptor[6..<8].littleEndianInteger)
    isInterlaced = descriptor[8] & 0x40 != 0
    guard width > 0, height > 0 else { throw .gif("a frame has no pixels") }
    var pixels = [UInt32](repeating: 0xFF00_0000, count: 256)
    for index in 0..<(colours.count / 3) {
      let place = colours.startIndex + 3 * index
      pixels[index] |= UInt32(colours[place..<(place + 3)].littleEndianInteger)
    }
    if let transparent { pixels[transparent] = 0 }
    (self.pixels, hasAlpha, self.offset) = (pixels, transparent != nil, offset)
  }
}
