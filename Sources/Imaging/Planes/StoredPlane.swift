import Glibc

/// A plane of a picture, held whole as it is stored.
final class StoredPlane {
  let size: PictureSize
  /// Samples from one row to the next.
  let stride: Int
  private let memory: UnsafeMutableRawPointer

  /// Rows before the first and after the last, with any values: whole blocks are read that begin or end in them.
  static let margin = 16

  /// - Parameter blockRows: Rows of a row of blocks, which are written together.
  /// - Throws: `image-too-large` when the system has not enough memory.
  init(_ size: PictureSize, blockRows: Int) throws(ImagingError) {
    (self.size, stride) = (size, PlaneRingBuffer.stride(size.width))
    guard let memory = calloc(1, Self.bytes(of: size, blockRows: blockRows)) else {
      throw ImagingError(
        code: .imageTooLarge, message: "there is no memory for a whole plane of \(size.width) × \(size.height)")
    }
    self.memory = memory
  }

  deinit { free(memory) }

  static func bytes(of size: PictureSize, blockRows: Int) -> Int {
    PlaneRingBuffer.stride(size.width) * ((size.height + blockRows - 1) / blockRows * blockRows + 2 * margin)
  }

  func row(_ index: Int) -> PlaneSamples {
    (memory + (index + Self.margin) * stride).assumingMemoryBound(to: UInt8.self)
  }
}
