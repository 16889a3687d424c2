import Glibc

/// The packed rows of a picture that cannot be decoded row by row.
final class PackedPicture {
  private let memory: UnsafeMutableRawPointer
  private let rowBytes: Int

  /// Allocates all rows, filled with 0; pages that are never written use no memory (calloc(3)). The caller holds a share
  /// of `WholePictureMemory` for it.
  /// - Throws: `image-too-large` when the system has not enough memory.
  init(width: Int, height: Int, layout: PixelLayout) throws(ImagingError) {
    rowBytes = width * layout.packedBytes
    guard let memory = calloc(height, rowBytes) else {
      throw ImagingError(
        code: .imageTooLarge, message: "there is no memory for a whole picture of \(width) × \(height)")
    }
    self.memory = memory
  }

  /// The bytes of a picture.
  static func bytes(width: Int, height: Int, layout: PixelLayout) -> Int { width * height * layout.packedBytes }

  deinit { free(memory) }

  func row(_ index: Int) -> UnsafeMutableRawPointer { memory + index * rowBytes }

  /// The first byte of a pixel of `bytes` bytes.
  func pixel(_ column: Int, _ row: Int, bytes: Int) -> UnsafeMutableRawPointer {
    memory + row * rowBytes + column * bytes
  }

  /// Copies a row to `target`.
  func copyRow(_ index: Int, to target: UnsafeMutableRawPointer) {
    target.copyMemory(from: row(index), byteCount: rowBytes)
  }

  func setRow(_ index: Int, from source: UnsafeMutableRawPointer) {
    row(index).copyMemory(from: source, byteCount: rowBytes)
  }
}
