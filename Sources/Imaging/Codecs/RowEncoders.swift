/// The encoders there are.
enum RowEncoders {
  /// An encoder into an open file, from its current offset; the file is not closed. Writes the header.
  /// - Throws: `image-too-large` when the format cannot hold such a picture, `filter-failed`, `io`.
  static func open(_ descriptor: Int32, _ order: EncodingOrder) throws(ImagingError) -> any RowEncoder {
    switch order.info.format {
    case .jpeg: try JPEGEncoder(descriptor, order)
    case .png: try PNGEncoder(descriptor, order)
    case .webp: try WebPEncoder(descriptor, order)
    }
  }

  /// Bytes that an encoder holds of the whole picture; 0 when it writes row by row.
  static func wholePictureBytes(_ order: EncodingOrder) -> Int {
    switch order.info.format {
    case .jpeg, .png: 0
    case .webp: WebPEncoder.wholePictureBytes(order)
    }
  }
}
