import Glibc

/// The packed rows of a picture that cannot be decoded row by row.
final class WholePicture {
  private let memory: UnsafeMutableRawPointer
  private let rowBytes: Int

  /// Memory for all rows, all 0; pages that are never written cost nothing (calloc(3)). The caller has a share of
  /// `WholePictureMemory` for it.
  /// - Throws: `image-too-large` when there is not so much memory.
  init(width: Int, height: Int, layout: PixelLayout) throws(ImagingError) {
    rowBytes = width * layout.packedBytes
    guard let memory = calloc(height, rowBytes) else {
      throw ImagingError(
        code: .imageTooLarge, message: "there is no memory for a whole picture of \(width) × \(height)")
    }
    self.memory = memory
  }

  /// Bytes of a picture.
  static func bytes(width: Int, height: Int, layout: PixelLayout) -> Int { width * height * layout.packedBytes }

  deinit { free(memory) }

  /// The first byte of a row.
  func row(_ index: Int) -> UnsafeMutableRawPointer { memory + index * rowBytes }

  /// The first byte of a pixel.
  func pixel(_ column: Int, _ row: Int, bytes: Int) -> UnsafeMutableRawPointer {
    memory + row * rowBytes + column * bytes
  }

  /// Copies a row.
  func copyRow(_ index: Int, to target: UnsafeMutableRawPointer) {
    target.copyMemory(from: row(index), byteCount: rowBytes)
  }

  /// Replaces a row.
  func setRow(_ index: Int, from source: UnsafeMutableRawPointer) {
    row(index).copyMemory(from: source, byteCount: rowBytes)
  }
}
