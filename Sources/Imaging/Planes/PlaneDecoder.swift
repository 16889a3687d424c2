/// Pointers to the rows of each plane, as libjpeg takes them (`JSAMPIMAGE`).
typealias PlanePointers = UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?>

/// Delivers the stored planes of a YCbCr picture, neither upsampled nor converted, with a sampling of 4:4:4, 4:2:2, 4:4:0 or
/// 4:2:0 and at most 16 rows in a row of blocks.
protocol PlaneDecoder: AnyObject {
  /// Requests a picture of `eighths` eighths of each side. Must be called before `startPlanes`.
  func reduce(toEighths eighths: Int)
  /// Prepares for planes. Pictures of several scans are read whole here, calling `isCancelled` for each row of blocks.
  func startPlanes(isCancelled: () -> Bool) throws(ImagingError)
  /// The size of each plane as it is delivered, and the number of rows in its rows of blocks; valid after `startPlanes`.
  var planes: [(size: PictureSize, blockRows: Int)] { get }
  /// Reads the next row of blocks of each plane.
  func readBlocks(into planes: PlanePointers) throws(ImagingError)
  /// Reads on to the end after the last row, so that a missing end is an error.
  func finish() throws(ImagingError)
}
