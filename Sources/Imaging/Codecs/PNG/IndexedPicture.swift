import Glibc

/// The rows of a picture as indices of its colours, while there are few of them.
final class IndexedPicture {
  /// A colour of a palette: red, green, blue and alpha.
  typealias Colour = SIMD4<UInt8>

  /// Complete rows.
  private(set) var count = 0

  private let width: Int
  private let layout: PixelLayout
  private let capacity: Int
  /// The packed pixel of each colour, in the order of the first pixels that have them.
  private var pixels: [UInt32] = []
  private let indices: UnsafeMutablePointer<UInt8>
  /// A hash table with linear probing: the index of a colour plus 1, or 0.
  private var slots = [UInt16](repeating: 0, count: 1 << slotBits)

  private static let slotBits = 10

  /// The most colours with which a palette is smaller than the pixels themselves; nil when none is: grey samples of 8 bits are
  /// as small as indices of 8 bits.
  static func capacity(for layout: PixelLayout) -> Int? {
    if layout.is16Bit { nil } else if layout.isGrey && !layout.hasAlpha { 16 } else { 256 }
  }

  /// The bytes of a picture's indices.
  static func bytes(_ size: PictureSize) -> Int { size.width * size.height }

  /// Allocates memory for all rows; pages that are never written use none (calloc(3)). The caller holds a share of
  /// `WholePictureMemory` for it.
  /// - Parameter capacity: The most colours, 256 at most.
  /// - Throws: `image-too-large` when the system has not enough memory.
  init(_ size: PictureSize, _ layout: PixelLayout, capacity: Int) throws(ImagingError) {
    guard let memory = calloc(size.height, size.width) else {
      throw ImagingError(code: .imageTooLarge, message: "there is no memory for a whole picture of \(size)")
    }
    (width, self.layout, self.capacity) = (size.width, layout, capacity)
    indices = memory.assumingMemoryBound(to: UInt8.self)
  }

  deinit { free(indices) }

  /// Appends a row; returns false, and does not append it, when the picture has too many colours with it.
  func append(_ row: PackedRow) -> Bool {
    let isAppended =
      switch layout.packedBytes {
      case 1: append(row, of: UInt8.self)
      case 2: append(row, of: UInt16.self)
      default: append(row, of: UInt32.self)
      }
    if isAppended { count += 1 }
    return isAppended
  }

  private func append<Pixel: FixedWidthInteger & BitwiseCopyable>(_ row: PackedRow, of type: Pixel.Type) -> Bool {
    let target = indices + count * width
    // The value of a filler is undefined.
    let mask: UInt32 = layout.isGrey || layout.hasAlpha ? .max : 0xFF_FFFF
    var last: (pixel: UInt32, index: UInt8)?
    for column in 0..<width {
      let pixel = UInt32(truncatingIfNeeded: row.vector(column, as: type)) & mask
      if let last, last.pixel == pixel {
        target[column] = last.index
      } else {
        guard let index = index(of: pixel) else { return false }
        target[column] = index
        last = (pixel, index)
      }
    }
    return true
  }

  /// The index of a colour, which is added when it is new; nil when there is no room for it.
  private func index(of pixel: UInt32) -> UInt8? {
    // Knuth's multiplicative hashing.
    var slot = Int((pixel &* 2_654_435_769) >> UInt32(32 - Self.slotBits))
    while slots[slot] != 0 {
      let index = Int(slots[slot]) - 1
      if pixels[index] == pixel { return UInt8(index) }
      slot = (slot + 1) & (1 << Self.slotBits - 1)
    }
    guard pixels.count < capacity else { return nil }
    pixels.append(pixel)
    slots[slot] = UInt16(pixels.count)
    return UInt8(pixels.count - 1)
  }

  /// Writes the pixels of a row.
  func copyRow(_ row: Int, to packed: PackedRow) {
    let source = indices + row * width
    for column in 0..<width {
      let pixel = pixels[Int(source[column])]
      switch layout.packedBytes {
      case 1: packed.set(column, to: UInt8(truncatingIfNeeded: pixel))
      case 2: packed.set(column, to: UInt16(truncatingIfNeeded: pixel))
      default: packed.set(column, to: pixel)
      }
    }
  }

  // MARK: The palette

  /// The colours of a picture in the order in which they are stored.
  struct Palette {
    /// Those that are not opaque come first: alpha is stored up to the last of them.
    let colours: [Colour]
    /// The index in `colours` of each index of the picture.
    fileprivate let ranks: [UInt8]
  }

  /// The palette for the rows that were appended.
  var palette: Palette {
    let colours = pixels.map(colour)
    let order = colours.indices.filter { colours[$0].w < 255 } + colours.indices.filter { colours[$0].w == 255 }
    var ranks = [UInt8](repeating: 0, count: colours.count)
    for (rank, index) in order.enumerated() { ranks[index] = UInt8(rank) }
    return Palette(colours: order.map { colours[$0] }, ranks: ranks)
  }

  /// Writes the indices of a row's colours in a palette of this picture.
  func copyIndices(_ row: Int, in palette: Palette, to target: UnsafeMutablePointer<UInt8>) {
    let source = indices + row * width
    for column in 0..<width { target[column] = palette.ranks[Int(source[column])] }
  }

  private func colour(_ pixel: UInt32) -> Colour {
    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: pixel >> (8 * $0)) }
    if layout.isGrey { return Colour(bytes[0], bytes[0], bytes[0], layout.hasAlpha ? bytes[1] : 255) }
    return Colour(bytes[0], bytes[1], bytes[2], layout.hasAlpha ? bytes[3] : 255)
  }
}
