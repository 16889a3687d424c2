import CPNG

/// Gathers the metadata from the chunks that libpng does not interpret.
final class PNGChunkCollector {
  /// What was found so far.
  private(set) var metadata = Metadata()

  /// libpng's `png_user_chunk_ptr`, with a collector as its context: takes every ancillary chunk. Returns a negative
  /// number, an error, for critical chunks that nobody knows (W3C PNG, third edition, § 5.4).
  static let callback: png_user_chunk_ptr = { codec, chunk in
    guard let chunk, let context = png_get_user_chunk_ptr(codec) else { return -1 }
    let letters = chunk.pointee.name
    let name = [letters.0, letters.1, letters.2, letters.3]
    guard name[0] & 0x20 != 0 else { return -1 }
    let bytes = UnsafeBufferPointer(start: chunk.pointee.data, count: chunk.pointee.size)
    Unmanaged<PNGChunkCollector>.fromOpaque(context).takeUnretainedValue().take(name, bytes)
    return 1
  }

  private func take(_ name: [UInt8], _ bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.count <= ImageLimits.maxMetadataBytes else { return }
    guard PNGChunk.colour.contains(name) || [PNGChunk.exif, PNGChunk.icc, PNGChunk.text].contains(name) else { return }
    if let item = PNGChunk.item(of: name, bytes: Array(bytes)) { metadata.append(item) }
  }
}
