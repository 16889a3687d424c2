import CJPEG

/// Owns the coefficients of a JPEG with several scans, in memory that is reused for the next such picture.
final class JPEGCoefficients {
  /// The shim's descriptor of the memory; empty until `provide`.
  let storage: UnsafeMutablePointer<cjpeg_coefficients>
  private var block: WholePictureMemory.Block?

  init() {
    storage = .allocate(capacity: 1)
    storage.initialize(to: cjpeg_coefficients())
  }

  deinit { storage.deallocate() }

  /// Provides memory of `bytes` bytes.
  /// - Throws: `image-too-large` when the system has not enough memory.
  func provide(_ bytes: Int, from memory: WholePictureMemory) throws(ImagingError) {
    let block = try memory.block(bytes)
    storage.pointee.memory = block.start.assumingMemoryBound(to: JBLOCK.self)
    storage.pointee.capacity = bytes / MemoryLayout<JBLOCK>.size
    self.block = block
  }
}
