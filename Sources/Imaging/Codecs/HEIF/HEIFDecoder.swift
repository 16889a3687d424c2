import CHEIF
import Glibc

/// Decodes the primary picture of AVIF and HEIC with libheif, which decodes whole pictures, turned and cropped.
final class HEIFDecoder: RowDecoder {
  let info: ImageInfo
  let layout: PixelLayout
  let chroma: ChromaSampling
  let metadata: Metadata

  private let descriptor: Int32
  private let size: Int64
  private let container: HEIFContainer
  private var picture: OpaquePointer?
  private var packed: PackedRow?
  /// A row of a grey picture as libheif delivers it, in colour and with alpha.
  private var coloured: PackedRow?
  private var nextRow: Int32 = 0

  init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) {
    let file = FileReader(descriptor)
    container = try HEIFContainer(file, limits: limits)
    info = ImageInfo(format: container.format, width: container.width, height: container.height)
    layout = PixelLayout(isGrey: container.isGrey, hasAlpha: container.hasAlpha, is16Bit: container.bits > 8)
    (chroma, metadata) = (container.chroma, container.metadata)
    (self.descriptor, size) = (descriptor, try file.size())
  }

  deinit { cheif_close(picture) }

  /// What libheif holds at once: the data of all items, planes of the decoder, its own, turned ones, and interleaved pixels. Up to
  /// 22.2 bytes for each pixel of more than 8 bits have been measured, and 10.4 for others.
  var wholePictureBytes: Int {
    let isGrid = container.largestCodedPixels != container.pixels
    let pixels = container.pixels + (isGrid ? container.largestCodedPixels : 0)
    return pixels * (layout.is16Bit ? 28 : 14) + container.dataBytes
  }

  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    guard container.alphaBits == container.bits else { throw differentDepths }
    var failure = CHEIF_OK
    picture = cheif_decode(
      descriptor, size, Int64(container.largestCodedPixels), Int32(container.smallestCodedSize.width),
      Int32(container.smallestCodedSize.height), Int32(container.bits), &failure)
    switch failure {
    case CHEIF_OK: break
    case CHEIF_IO: throw .io(errno, doing: "the picture cannot be read")
    case CHEIF_NO_MEMORY:
      throw ImagingError(code: .imageTooLarge, message: "there is no memory to decode the \(info.format.displayName)")
    case CHEIF_UNSUPPORTED:
      throw ImagingError(
        code: .unsupportedFormat, message: "the \(info.format.displayName) is of a kind that is not read")
    default: throw .heif("its data are damaged")
    }
    if isCancelled() { throw .cancelled }
    let (width, height) = (Int(cheif_width(picture)), Int(cheif_height(picture)))
    guard width == info.width, height == info.height else {
      throw .heif("its picture is \(width) × \(height), not \(info.width) × \(info.height)")
    }
    let isGrey = layout.isGrey && !colour
    let (hasAlpha, is16Bit) = (layout.hasAlpha, layout.is16Bit)
    packed = PackedRow(
      width: info.width, layout: PixelLayout(isGrey: isGrey, hasAlpha: hasAlpha, is16Bit: is16Bit))
    guard isGrey else { return }
    coloured = PackedRow(width: info.width, layout: PixelLayout(isGrey: false, hasAlpha: true, is16Bit: is16Bit))
  }

  /// The error for alpha of another depth than that of the colours: all coded pictures are decoded with one.
  private var differentDepths: ImagingError {
    ImagingError(
      code: .unsupportedFormat,
      message: "the \(info.format.displayName) is of a kind that is not read: its colours have "
        + "\(container.bits) bits, its alpha \(container.alphaBits)")
  }

  func read(into row: PixelRow) throws(ImagingError) {
    guard let packed else { return }
    cheif_copy_row(picture, nextRow, (coloured ?? packed).bytes)
    nextRow += 1
    if let coloured {
      if layout.is16Bit {
        Self.copyGrey(of: coloured, to: packed, UInt16.self)
      } else {
        Self.copyGrey(of: coloured, to: packed, UInt8.self)
      }
    }
    row.unpack(packed)
  }

  /// Copies red, which is as green and blue, and alpha, if it is asked for.
  private static func copyGrey<Sample>(of coloured: PackedRow, to grey: PackedRow, _ type: Sample.Type) {
    let source = coloured.bytes.assumingMemoryBound(to: Sample.self)
    let target = grey.bytes.assumingMemoryBound(to: Sample.self)
    let samples = grey.layout.packedSamples
    for column in 0..<grey.width {
      target[column * samples] = source[4 * column]
      if grey.layout.hasAlpha { target[column * samples + 1] = source[4 * column + 3] }
    }
  }

  /// The whole picture has been decoded.
  func finish() throws(ImagingError) {}
}
