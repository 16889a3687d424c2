/// What a picture's header says.
package struct ImageInfo: Sendable, Equatable {
  /// The format of the file.
  package let format: ImageFormat
  /// Columns.
  package let width: Int
  /// Rows.
  package let height: Int
  /// Frames; of more than one the first is used.
  package var frames = 1

  package init(format: ImageFormat, width: Int, height: Int, frames: Int = 1) {
    (self.format, self.width, self.height, self.frames) = (format, width, height, frames)
  }

  /// Reads the header of the picture in an open file, for the case that its bytes are used as they are. Nothing is
  /// decoded, so damage beyond the header goes unnoticed. The file must be seekable and is read from its beginning; its
  /// offset is left anywhere, and it is not closed.
  /// - Throws: all codes but `filter-failed` and `cancelled`.
  package static func probe(_ descriptor: Int32, limits: ImageLimits = ImageLimits()) throws(ImagingError) -> ImageInfo
  {
    try RowDecoders.open(descriptor, limits: limits).info
  }
}
