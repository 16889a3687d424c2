/// Puts metadata around what libwebp has encoded (RFC 9649 § 2.7): `VP8X`, `ICCP`, the picture, `EXIF`, `XMP `.
struct WebPAssembly {
  /// The file's bytes, in pieces.
  let pieces: [[UInt8]]

  /// `encoded` is a whole file of libwebp, `RIFF` and all.
  init(_ encoded: UnsafeRawBufferPointer, _ order: EncodingOrder) {
    var (icc, exif, xmp) = ([UInt8](), [UInt8](), [UInt8]())
    for item in order.metadata.items {
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
    // Without metadata libwebp writes VP8X only before ALPH.
    let hasHead = encoded[12..<16].elementsEqual("VP8X".utf8)
    let flags =
      (icc.isEmpty ? 0 : 0x20) | (order.layout.hasAlpha ? 0x10 : 0) | (exif.isEmpty ? 0 : 8) | (xmp.isEmpty ? 0 : 4)
    let head = WebPChunk.encoded(
      "VP8X",
      [UInt8(flags), 0, 0, 0] + WebPChunk.littleEndian(order.info.width - 1, bytes: 3)
        + WebPChunk.littleEndian(order.info.height - 1, bytes: 3))
    let picture = Array(encoded[(hasHead ? 30 : 12)...])
    let size = 4 + head.count + icc.count + picture.count + exif.count + xmp.count
    let riff = Array("RIFF".utf8) + WebPChunk.littleEndian(size, bytes: 4) + Array("WEBP".utf8)
    pieces = [riff + head + icc, picture, exif + xmp]
  }
}
