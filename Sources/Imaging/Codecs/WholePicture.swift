import Glibc

/// The packed rows of a picture that cannot be decoded row by row.
final class WholePicture {
  private let memory: UnsafeMutableRawPointer
  private let rowBytes: Int

  /// Memory for all rows, all 0; pages that are never written cost nothing (calloc(3)).
  /// - Throws: `image-too-large` when it is more than the limit or than there is.
  init(_ info: ImageInfo, layout: PixelLayout, limits: ImageLimits) throws(ImagingError) {
    rowBytes = info.width * layout.packedBytes
    let (total, overflow) = rowBytes.multipliedReportingOverflow(by: info.height)
    guard !overflow, total <= limits.maxWholePictureBytes, let memory = calloc(total, 1) else {
      throw ImagingError(
        code: .imageTooLarge,
        message: """
          \(limits.maxWholePictureBytes) bytes are the limit for an interlaced picture; \
          \(info.width) × \(info.height) needs \(overflow ? "more than \(Int.max)" : "\(total)")
          """)
    }
    self.memory = memory
  }

  deinit { free(memory) }

  /// The first byte of a row.
  func row(_ index: Int) -> UnsafeMutableRawPointer { memory + index * rowBytes }

  /// Copies a row.
  func copyRow(_ index: Int, to target: UnsafeMutableRawPointer) {
    target.copyMemory(from: row(index), byteCount: rowBytes)
  }
}
