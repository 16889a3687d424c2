import CJPEG

/// Holds the last error of libjpeg and converts it to `ImagingError`.
final class JPEGFailure {
  /// The shim's record of the error.
  let storage: UnsafeMutablePointer<cjpeg_failure>

  init() {
    storage = .allocate(capacity: 1)
    storage.initialize(to: cjpeg_failure())
  }

  deinit { storage.deallocate() }

  var whileDecoding: ImagingError {
    if storage.pointee.code == Int32(JERR_FILE_READ.rawValue) {
      return .io(storage.pointee.system_error, doing: "the picture cannot be read")
    }
    let code: ImagingError.Code =
      switch storage.pointee.code {
      case Int32(JERR_INPUT_EOF.rawValue): .imageTruncated
      case Int32(JERR_OUT_OF_MEMORY.rawValue), Int32(JERR_IMAGE_TOO_BIG.rawValue),
        Int32(JERR_WIDTH_OVERFLOW.rawValue):
        .imageTooLarge
      // Without a height in its header the picture is followed by it.
      case Int32(JERR_EMPTY_IMAGE.rawValue), Int32(JERR_SOF_UNSUPPORTED.rawValue), Int32(JERR_BAD_PRECISION.rawValue),
        Int32(JERR_CONVERSION_NOTIMPL.rawValue), Int32(JERR_ARITH_NOTIMPL.rawValue),
        Int32(JERR_CCIR601_NOTIMPL.rawValue), Int32(JERR_FRACT_SAMPLE_NOTIMPL.rawValue):
        .unsupportedFormat
      default: .imageCorrupt
      }
    return .jpeg(text, code: code)
  }

  var whileEncoding: ImagingError {
    if storage.pointee.cancelled != 0 { return .cancelled }
    switch storage.pointee.code {
    case Int32(JERR_FILE_WRITE.rawValue):
      return .io(storage.pointee.system_error, doing: "the result cannot be written")
    case Int32(JERR_OUT_OF_MEMORY.rawValue):
      return ImagingError(code: .imageTooLarge, message: "there is no memory to encode the JPEG")
    default:
      return ImagingError(code: .filterFailed, message: "the JPEG cannot be encoded: \(text)")
    }
  }

  /// The library's warning about bytes between the header's segments; nil without one.
  var warning: String? {
    let text = withUnsafeBytes(of: storage.pointee.warning) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    return text.isEmpty ? nil : text
  }

  /// Whether all that was accepted is that the file ends, although no decoded bit is missing: if one were, the Huffman decoder
  /// would warn.
  private var lacksOnlyEnd: Bool {
    storage.pointee.damages == 1 && storage.pointee.damage_code == Int32(JWRN_JPEG_EOF.rawValue)
  }

  /// The first damage that was accepted; nil without any. To be asked after all rows were read.
  /// - Parameters:
  ///   - rows: The rows of pixels in one of MCUs.
  ///   - height: The rows of the picture.
  ///   - isMultiScan: Whether the picture has several scans.
  ///   - isArithmetic: Whether its codes are arithmetic, whose decoder does not warn of missing bits.
  func damage(rows: Int, of height: Int, isMultiScan: Bool, isArithmetic: Bool) -> PictureDamage? {
    let text = withUnsafeBytes(of: storage.pointee.damage) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    guard !text.isEmpty else { return nil }
    // Of several scans others may be missing.
    if lacksOnlyEnd, !isMultiScan, !isArithmetic { return .behindRows(text) }
    let complete = min(Int(storage.pointee.damaged_row) * rows, height)
    // What is noticed behind the last row may be anywhere.
    if complete == height, !isMultiScan { return PictureDamage(.anywhere, text) }
    let scan = Int(storage.pointee.damaged_scan) + (complete == height ? 1 : 0)
    let isRefined = isMultiScan && scan > 1
    return PictureDamage(isRefined ? .refinement("scan", number: scan) : .rows(complete, of: height), text)
  }

  private var text: String {
    withUnsafeBytes(of: storage.pointee.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
