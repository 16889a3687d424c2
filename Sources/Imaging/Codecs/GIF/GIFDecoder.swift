import CGIF
import Glibc

/// Decodes the first frame of a GIF with giflib, on a transparent canvas, as browsers show it.
final class GIFDecoder: RowDecoder {
  let info: ImageInfo
  let layout: PixelLayout
  let chroma = ChromaSampling.yuv444
  let hasFewColours = true
  let metadata: Metadata

  private let container: GIFContainer
  private let stream: StdioStream
  /// The size of a file whose damage is accepted, otherwise -1.
  private let acceptedBytes: Int
  private var codec: OpaquePointer?
  /// The indices of an interlaced frame.
  private var picture: PackedPicture?
  private var indices: [UInt8]
  private var packed: PackedRow?
  private var nextRow = 0
  private var accepted: AcceptedDamage
  /// The rows of the frame that were read.
  private var readRows = 0

  init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) {
    let file = FileReader(descriptor)
    container = try GIFContainer(file, damaged: limits.damaged)
    try limits.check(width: container.width, height: container.height)
    acceptedBytes = limits.damaged == .accept ? Int(try file.size()) : -1
    stream = try StdioStream(reading: descriptor)
    info = ImageInfo(format: .gif, width: container.width, height: container.height, frames: container.frames)
    let frame = container.frame
    let isCovered = frame.width == info.width && frame.height == info.height
    layout = PixelLayout(isGrey: false, hasAlpha: frame.hasAlpha || !isCovered, is16Bit: false)
    metadata = container.metadata
    accepted = AcceptedDamage(limits.damaged)
    indices = [UInt8](repeating: 0, count: frame.width)
  }

  deinit { cgif_close(codec) }

  var damage: PictureDamage? { accepted.damage ?? container.damage }

  /// The indices of an interlaced frame.
  var wholePictureBytes: Int { container.frame.isInterlaced ? container.frame.width * container.frame.height : 0 }

  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    let frame = container.frame
    guard fseek(stream.file, Int(frame.offset), SEEK_SET) == 0 else {
      throw .io(errno, doing: "the picture cannot be read")
    }
    var failure = CGIF_OK
    codec = cgif_open(stream.file, acceptedBytes, &failure)
    try Self.check(failure)
    packed = PackedRow(width: info.width, layout: layout)
    guard frame.isInterlaced else { return }
    let picture = try PackedPicture(
      width: frame.width, height: frame.height, layout: PixelLayout(isGrey: true, hasAlpha: false, is16Bit: false))
    self.picture = picture
    for (first, step, height) in [(0, 8, 8), (4, 8, 4), (2, 4, 2), (1, 2, 1)] {
      for row in stride(from: first, to: frame.height, by: step) {
        if readRows % DecodedRows.rowsBetweenChecks == 0, isCancelled() { throw .cancelled }
        guard try readIndices() else { return }
        // Rows of later passes, which may be missing, are those of this one until then.
        let copies = accepted.isPossible ? min(height, frame.height - row) : 1
        indices.withUnsafeBytes {
          for copy in 0..<copies {
            picture.row(row + copy).copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: $0.count)
          }
        }
      }
    }
  }

  func read(into row: PixelRow) throws(ImagingError) {
    guard let packed else { return }
    let frame = container.frame
    let index = nextRow - frame.row
    nextRow += 1
    if try hasIndices(ofRow: index) {
      let target = packed.bytes + 4 * frame.column
      frame.pixels.withUnsafeBufferPointer { pixels in
        for (column, index) in indices.enumerated() {
          target.storeBytes(of: pixels[Int(index)], toByteOffset: 4 * column, as: UInt32.self)
        }
      }
    } else {
      packed.clear()
    }
    row.unpack(packed)
  }

  /// Gets the indices of a row of the frame.
  /// - Returns: Whether there are any: the row is within the frame, and was read.
  private func hasIndices(ofRow index: Int) throws(ImagingError) -> Bool {
    guard (0..<container.frame.height).contains(index) else { return false }
    guard let picture else { return try readIndices() }
    indices.withUnsafeMutableBytes { picture.copyRow(index, to: $0.baseAddress.unsafelyUnwrapped) }
    // Of the first pass, row 8 n is the first of 8.
    return !accepted.isAtEnd || index < readRows * 8
  }

  /// All rows of the first frame have been read.
  func finish() throws(ImagingError) {
    if accepted.isAtEnd { return }
    switch container.ending {
    case .complete, .withoutTrailer: return
    case .invalid: try accepted.endAfterRows(with: GIFContainer.missingBlock)
    case .truncated:
      try accepted.endAfterRows(
        with: ImagingError(code: .imageTruncated, message: "the GIF ends before its last frame does"))
    }
  }

  /// Reads the next row of the frame in the order of the file.
  /// - Returns: Whether there was one.
  private func readIndices() throws(ImagingError) -> Bool {
    guard !accepted.isAtEnd else { return false }
    do throws(ImagingError) {
      try Self.check(cgif_read_row(codec, &indices, Int32(indices.count)))
      readRows += 1
      return true
    } catch {
      try accept(error)
      return false
    }
  }

  private func accept(_ error: ImagingError) throws(ImagingError) {
    try accepted.end(with: error, hasRows: readRows > 0, .rows(readRows, of: container.frame.height))
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
