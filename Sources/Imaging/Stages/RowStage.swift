/// One step between decoder and encoder, described before the first row is read. It may change the picture's size and
/// need more than one row at a time; most stages do neither (`RowFilter`).
///
/// Samples are 0…1 before and must be 0…1 after. Colour is sRGB-encoded and not multiplied by alpha.
package protocol RowStage: Sendable {
  /// The size of the output for an input size.
  func size(after size: PictureSize) -> PictureSize
  /// The part of the input that is held.
  var window: RowWindow { get }
  /// The bytes held for an input of the given size, besides the row that is changed. By default those of the window: 0 for a single
  /// row. A stage that has a row of its own overrides this.
  func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int
  /// Whether pixels only move or are left out, and keep their colours; false by default.
  var movesPixelsOnly: Bool { get }
  /// Whether rows become columns; false by default.
  var transposes: Bool { get }
  /// The stage as an affine map of red, green and blue, clamped to 0…1 afterwards, when it is nothing else: alpha, size and
  /// positions of pixels stay the same. Nil by default.
  var affine: AffineColour? { get }
  /// The stage as a resampling plan for an input size, when it is nothing else; nil by default.
  var resampling: (@Sendable (PictureSize) -> ResamplingPlan)? { get }
  /// The same stage for samples that other stages change before and after: it holds 16 bits, as rounding to 8 in between
  /// might be visible. Itself by default.
  var holding16Bit: any RowStage { get }
  /// The output rows, made of the input rows. Does not read yet.
  /// - Throws: `image-too-large` when there is not enough memory.
  func rows(from source: any RowSource) throws(ImagingError) -> any RowSource
}

extension RowStage {
  package func heldBytes(of size: PictureSize, layout: PixelLayout) -> Int {
    switch window {
    case .row: return 0
    case .rows(let count):
      // A pixel has four floats at most.
      let width = max(size.width, self.size(after: size).width)
      return count * width * MemoryLayout<SIMD4<Float>>.size
    case .picture: return PackedPicture.bytes(width: size.width, height: size.height, layout: layout)
    }
  }

  package var movesPixelsOnly: Bool { false }
  package var transposes: Bool { false }
  package var affine: AffineColour? { nil }
  package var resampling: (@Sendable (PictureSize) -> ResamplingPlan)? { nil }
  package var holding16Bit: any RowStage { self }
}

/// The part of its input that a stage holds at a time.
package enum RowWindow: Equatable {
  /// One row, which is changed in place.
  case row
  /// At most this number of rows, output rows included.
  case rows(Int)
  case picture

  /// The window in words, for `--explain`; empty for a single row.
  var words: String {
    switch self {
    case .row: ""
    case .rows(let count): "; holds \(count) rows"
    case .picture: "; holds the whole picture"
    }
  }
}
