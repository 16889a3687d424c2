import CJPEG

/// The coefficients of a JPEG of several scans, in memory that is used again for the next such picture.
final class JPEGCoefficients {
  /// What the shim puts them into; empty until `provide`.
  let storage: UnsafeMutablePointer<cjpeg_coefficients>
  private var block: WholePictureMemory.Block?

  init() {
    storage = .allocate(capacity: 1)
    storage.initialize(to: cjpeg_coefficients())
  }

  deinit { storage.deallocate() }

  /// Gets memory for so many bytes.
  /// - Throws: `image-too-large` when there is none.
  func provide(_ bytes: Int, from memory: WholePictureMemory) throws(ImagingError) {
    let block = try memory.block(bytes)
    storage.pointee.memory = block.start.assumingMemoryBound(to: JBLOCK.self)
    storage.pointee.capacity = bytes / MemoryLayout<JBLOCK>.size
    self.block = block
  }
}
