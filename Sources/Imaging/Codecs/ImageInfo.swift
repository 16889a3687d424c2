/// The contents of a picture's header.
package struct ImageInfo: Sendable, Equatable {
  package let format: ImageFormat
  package let width: Int
  package let height: Int
  /// The number of frames, or of pictures in a JPEG file; only the first is used.
  package var frames = 1

  package init(format: ImageFormat, width: Int, height: Int, frames: Int = 1) {
    (self.format, self.width, self.height, self.frames) = (format, width, height, frames)
  }

  var size: PictureSize { PictureSize(width: width, height: height) }

  /// Reads the header of the picture in an open file without the format's library. Nothing is decoded, so damage beyond the
  /// header is not detected. The file must be seekable and is read from its beginning; its offset afterwards is undefined,
  /// and it is not closed.
  /// - Throws: all codes but `filter-failed` and `cancelled`.
  package static func probe(_ descriptor: Int32, limits: ImageLimits = ImageLimits()) throws(ImagingError) -> ImageInfo
  {
    let structure = try ImageFormat.structure(of: FileReader(descriptor), limits: limits)
    if let error = structure.decodingError { throw error }
    return structure.info
  }
}
