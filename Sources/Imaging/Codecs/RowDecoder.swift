/// Reads a picture row by row. Made with the header read and the limits checked; a codec is one file with a class that
/// conforms, and one line in `RowDecoders`.
protocol RowDecoder: AnyObject {
  /// What the header says.
  var info: ImageInfo { get }
  /// The channels and depth of the picture as it is stored, palettes and transparent colours expanded.
  var layout: PixelLayout { get }
  /// How coarse the stored colour is.
  var chroma: ChromaSampling { get }
  /// Whether the pixels have few colours, which repeat exactly; by default nothing says so.
  var hasFewColours: Bool { get }
  /// Whether the file holds its pixels exactly although its format can do otherwise; by default nothing says so.
  var isLossless: Bool { get }
  /// What the file says besides the pixels.
  var metadata: Metadata { get }

  /// Bytes that are held of the whole picture from `start` on; 0 when it passes row by row.
  var wholePictureBytes: Int { get }

  /// Eighths of each side at which the picture can be read as well, 1…7; by default none.
  var reductions: [Int] { get }
  /// Asks for a picture of so many eighths of each side, rounded up, one of `reductions`. To be called before `start`, if at
  /// all; sizes that are told elsewhere remain those of the whole picture.
  func reduce(toEighths eighths: Int)

  /// Prepares for rows. `colour` asks for colour rows of a grey picture. Pictures that cannot be read row by row are
  /// read whole here, calling `isCancelled` now and then.
  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError)
  /// Reads the next row; the row's planes must be grey or colour as asked in `start`.
  func read(into row: PixelRow) throws(ImagingError)
  /// Reads on to the end after the last row, so that a missing end is an error.
  func finish() throws(ImagingError)
}

extension RowDecoder {
  /// Columns and rows, as stored.
  var size: PictureSize { PictureSize(width: info.width, height: info.height) }
  var hasFewColours: Bool { false }
  var isLossless: Bool { false }
  var reductions: [Int] { [] }
  func reduce(toEighths eighths: Int) {}
}
