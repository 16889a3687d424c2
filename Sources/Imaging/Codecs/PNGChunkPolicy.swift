import CPNG

/// What libpng is told about chunks that it does not interpret.
enum PNGChunkPolicy {
  /// libpng's `png_user_chunk_ptr`: passes over every ancillary chunk, whose metadata `PNGMetadataReader` reads. Returns
  /// a negative number, an error, for critical chunks that nobody knows (W3C PNG, third edition, § 5.4).
  static let callback: png_user_chunk_ptr = { _, chunk in
    guard let chunk, chunk.pointee.name.0 & 0x20 != 0 else { return -1 }
    return 1
  }
}
