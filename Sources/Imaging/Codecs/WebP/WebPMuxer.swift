/// Adds metadata to a file encoded by libwebp (RFC 9649 § 2.7): `VP8X`, `ICCP`, the picture, `EXIF`, `XMP `.
struct WebPMuxer {
  /// The file's bytes, in pieces.
  let pieces: [[UInt8]]

  /// Splits `encoded`, a complete file of libwebp, and inserts the metadata.
  init(_ encoded: UnsafeRawBufferPointer, _ settings: EncodeSettings) {
    var (icc, exif, xmp) = ([UInt8](), [UInt8](), [UInt8]())
    for item in settings.metadata.items {
      switch item {
      case .icc(let bytes): icc = WebPChunk.encoded("ICCP", bytes)
      case .exif(let bytes): exif = WebPChunk.encoded("EXIF", bytes)
      case .xmp(let bytes): xmp = WebPChunk.encoded("XMP ", bytes)
      case .extendedXMP, .iptc, .pngColour, .density: break
      }
    }
    guard !(icc + exif + xmp).isEmpty else {
      pieces = [Array(encoded)]
      return
    }
    // libwebp itself writes VP8X only before ALPH.
    let hasHead = encoded[12..<16].elementsEqual("VP8X".utf8)
    let flags =
      (icc.isEmpty ? 0 : 0x20) | (settings.layout.hasAlpha ? 0x10 : 0) | (exif.isEmpty ? 0 : 8) | (xmp.isEmpty ? 0 : 4)
    let head = WebPChunk.encoded(
      "VP8X",
      [UInt8(flags), 0, 0, 0] + [UInt8](littleEndian: settings.info.width - 1, count: 3)
        + [UInt8](littleEndian: settings.info.height - 1, count: 3))
    let picture = Array(encoded[(hasHead ? 30 : 12)...])
    let size = 4 + head.count + icc.count + picture.count + exif.count + xmp.count
    let riff = Array("RIFF".utf8) + [UInt8](littleEndian: size, count: 4) + Array("WEBP".utf8)
    pieces = [riff + head + icc, picture, exif + xmp]
  }
}
