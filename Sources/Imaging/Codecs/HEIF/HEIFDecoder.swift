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
  private var nextRow: Int32 = 0

  init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) {
    let file = FileReader(descriptor)
    container = try HEIFContainer(file, limits: limits)
    info = ImageInfo(format: container.format, width: container.width, height: container.height)
    layout = PixelLayout(isGrey: false, hasAlpha: container.hasAlpha, is16Bit: container.bits > 8)
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
    var failure = CHEIF_OK
    picture = cheif_decode(
      descriptor, size, Int64(container.largestCodedPixels), Int32(container.bits), &failure)
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
    packed = PackedRow(width: info.width, layout: layout)
  }

  func read(into row: PixelRow) throws(ImagingError) {
    guard let packed else { return }
    cheif_copy_row(picture, nextRow, packed.bytes)
    nextRow += 1
    row.unpack(packed)
  }

  /// The whole picture has been decoded.
  func finish() throws(ImagingError) {}
}
