import CGIF
import Glibc

/// Decodes the first frame of a GIF with giflib, on a transparent canvas, as browsers show it.
final class GIFDecoder: RowDecoder {
  let info: ImageInfo
  let layout: PixelLayout
  let chroma = ChromaSampling.yuv444
  let hasFewColours = true
  let metadata: Metadata
  let damage: PictureDamage?

  private let container: GIFContainer
  private let stream: StdioStream
  private var codec: OpaquePointer?
  /// The indices of an interlaced frame.
  private var picture: PackedPicture?
  private var indices: [UInt8]
  private var packed: PackedRow?
  private var nextRow = 0

  init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) {
    container = try GIFContainer(FileReader(descriptor))
    try limits.check(width: container.width, height: container.height)
    stream = try StdioStream(reading: descriptor)
    info = ImageInfo(format: .gif, width: container.width, height: container.height, frames: container.frames)
    let frame = container.frame
    let isCovered = frame.width == info.width && frame.height == info.height
    layout = PixelLayout(isGrey: false, hasAlpha: frame.hasAlpha || !isCovered, is16Bit: false)
    (metadata, damage) = (container.metadata, container.damage)
    indices = [UInt8](repeating: 0, count: frame.width)
  }

  deinit { cgif_close(codec) }

  /// The indices of an interlaced frame.
  var wholePictureBytes: Int { container.frame.isInterlaced ? container.frame.width * container.frame.height : 0 }

  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    let frame = container.frame
    guard fseek(stream.file, Int(frame.offset), SEEK_SET) == 0 else {
      throw .io(errno, doing: "the picture cannot be read")
    }
    var failure = CGIF_OK
    codec = cgif_open(stream.file, &failure)
    try Self.check(failure)
    packed = PackedRow(width: info.width, layout: layout)
    guard frame.isInterlaced else { return }
    let picture = try PackedPicture(
      width: frame.width, height: frame.height, layout: PixelLayout(isGrey: true, hasAlpha: false, is16Bit: false))
    var count = 0
    for (first, step) in [(0, 8), (4, 8), (2, 4), (1, 2)] {
      for row in stride(from: first, to: frame.height, by: step) {
        if count % DecodedRows.rowsBetweenChecks == 0, isCancelled() { throw .cancelled }
        count += 1
        try readIndices()
        indices.withUnsafeBytes {
          picture.row(row).copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: $0.count)
        }
      }
    }
    self.picture = picture
  }

  func read(into row: PixelRow) throws(ImagingError) {
    guard let packed else { return }
    let frame = container.frame
    let index = nextRow - frame.row
    nextRow += 1
    if (0..<frame.height).contains(index) {
      if let picture {
        indices.withUnsafeMutableBytes { picture.copyRow(index, to: $0.baseAddress.unsafelyUnwrapped) }
      } else {
        try readIndices()
      }
      let target = packed.bytes + 4 * frame.column
      frame.pixels.withUnsafeBufferPointer { pixels in
        for (column, index) in indices.enumerated() {
          target.storeBytes(of: pixels[Int(index)], toByteOffset: 4 * column, as: UInt32.self)
        }
      }
    } else {
      packed.bytes.initializeMemory(as: UInt8.self, repeating: 0, count: 4 * info.width)
    }
    row.unpack(packed)
  }

  func finish() throws(ImagingError) {
    guard container.ending != .truncated else {
      throw ImagingError(code: .imageTruncated, message: "the GIF ends before its last frame does")
    }
  }

  private func readIndices() throws(ImagingError) {
    try Self.check(cgif_read_row(codec, &indices, Int32(indices.count)))
  }

  private static func check(_ failure: cgif_failure) throws(ImagingError) {
    switch failure {
    case CGIF_OK: return
    case CGIF_IO: throw .io(errno, doing: "the picture cannot be read")
    case CGIF_NO_MEMORY: throw ImagingError(code: .imageTooLarge, message: "there is no memory to decode the GIF")
    case CGIF_TRUNCATED: throw .truncatedGIF
    case CGIF_TOO_SHORT: throw .gif("its data end before its picture does")
    default: throw .gif("its data are damaged")
    }
  }
}
