import CJPEG

/// Decodes JPEG (ITU-T T.81) with libjpeg-turbo: baseline, progressive and arithmetic, 8 bits, grey, YCbCr, RGB, CMYK and
/// YCCK.
final class JPEGDecoder: RowDecoder, PlaneDecoder {
  let info: ImageInfo
  let layout: PixelLayout
  let chroma: ChromaSampling
  let metadata: Metadata
  private let headerDamage: PictureDamage?
  private var accepted: AcceptedDamage

  private let codec: UnsafeMutablePointer<jpeg_decompress_struct>
  private let failure: JPEGFailure
  private let source: JPEGSource
  private let coefficients: JPEGCoefficients
  private let memory: WholePictureMemory
  private let cmyk: CMYKConversion?
  private var packed: PackedRow?

  init(_ descriptor: Int32, limits: ImageLimits) throws(ImagingError) {
    let (source, coefficients, failure) = (JPEGSource(descriptor), JPEGCoefficients(), JPEGFailure())
    let codec = UnsafeMutablePointer<jpeg_decompress_struct>.allocate(capacity: 1)
    codec.initialize(to: jpeg_decompress_struct())
    failure.storage.pointee.accepts_damage = limits.damaged == .accept ? 1 : 0
    do throws(ImagingError) {
      guard cjpeg_open_source(codec, failure.storage, source.storage, coefficients.storage) == 1,
        cjpeg_read_header(codec) == 1
      else {
        // The pixel limit takes precedence over the library's limit of sides.
        if failure.storage.pointee.code == Int32(JERR_IMAGE_TOO_BIG.rawValue) {
          try limits.check(width: Int(codec.pointee.image_width), height: Int(codec.pointee.image_height))
        }
        throw failure.whileDecoding
      }
      let (width, height) = (Int(codec.pointee.image_width), Int(codec.pointee.image_height))
      try limits.check(width: width, height: height)
      try Self.checkColours(codec.pointee)
      if failure.warning != nil {
        let file = FileReader(descriptor)
        let header = try JPEGHeader(file, limits: limits)
        if let error = header.decodingError {
          guard limits.damaged == .accept else { throw error }
          headerDamage = PictureDamage(.rows(0, of: height), error.message)
        } else {
          headerDamage = try header.damage(in: file)
        }
      } else {
        headerDamage = nil
      }
      let (metadata, frames) = JPEGMetadataReader.metadata(of: descriptor)
      let isCMYK = [JCS_CMYK, JCS_YCCK].contains(codec.pointee.jpeg_color_space)
      // Assumed to be inverted with and without Adobe's marker, as in browsers and Pillow.
      cmyk = isCMYK ? CMYKConversion(metadata.colour) : nil
      self.metadata = isCMYK ? metadata.withoutColourSpace : metadata
      info = ImageInfo(format: .jpeg, width: width, height: height, frames: frames)
    } catch {
      jpeg_destroy_decompress(codec)
      codec.deallocate()
      throw error
    }
    self.codec = codec
    self.failure = failure
    self.source = source
    self.coefficients = coefficients
    memory = limits.memory
    accepted = AcceptedDamage(limits.damaged)
    layout = PixelLayout(isGrey: codec.pointee.jpeg_color_space == JCS_GRAYSCALE, hasAlpha: false, is16Bit: false)
    chroma = Self.chroma(of: codec.pointee)
  }

  deinit {
    jpeg_destroy_decompress(codec)
    codec.deallocate()
  }

  var damage: PictureDamage? {
    let rows = Int(codec.pointee.max_v_samp_factor * DCTSIZE)
    let isMultiScan = codec.pointee.buffered_image != 0
    let damage =
      failure.damage(
        rows: rows, of: info.height, isMultiScan: isMultiScan, isArithmetic: codec.pointee.arith_code != 0)
      ?? accepted.damage
    return damage.map { .worse(headerDamage, $0) } ?? headerDamage
  }

  /// The coefficients of a picture with several scans.
  var wholePictureBytes: Int {
    guard jpeg_has_multiple_scans(codec) != 0, let components = codec.pointee.comp_info else { return 0 }
    return (0..<Int(codec.pointee.num_components)).reduce(0) { sum, index in
      let component = components[index]
      let columns = Int(component.width_in_blocks) + Int(component.h_samp_factor)
      let rows = Int(component.height_in_blocks) + Int(component.v_samp_factor)
      return sum + columns * rows * Int(DCTSIZE2) * MemoryLayout<JCOEF>.size
    }
  }

  /// The reductions for which the library has vector code; a transform of fewer coefficients takes less time. None for pictures
  /// with a third or a quarter of the columns or rows of chroma, which are reduced again.
  var reductions: [Int] { max(codec.pointee.max_h_samp_factor, codec.pointee.max_v_samp_factor) > 2 ? [] : [1, 2, 4] }

  func reduce(toEighths eighths: Int) {
    codec.pointee.scale_num = UInt32(eighths)
    codec.pointee.scale_denom = 8
  }

  func start(colour: Bool, isCancelled: () -> Bool) throws(ImagingError) {
    codec.pointee.out_color_space =
      cmyk != nil ? JCS_CMYK : layout.isGrey && !colour ? JCS_GRAYSCALE : JCS_EXT_RGBX
    try begin(isCancelled: isCancelled)
    packed = PackedRow(
      width: Int(codec.pointee.output_width),
      layout: PixelLayout(isGrey: layout.isGrey && !colour, hasAlpha: false, is16Bit: false))
  }

  func startPlanes(isCancelled: () -> Bool) throws(ImagingError) {
    codec.pointee.raw_data_out = 1
    codec.pointee.out_color_space = codec.pointee.jpeg_color_space
    try begin(isCancelled: isCancelled)
  }

  var planes: [(size: PictureSize, blockRows: Int)] {
    UnsafeBufferPointer(start: codec.pointee.comp_info, count: Int(codec.pointee.num_components)).map {
      (
        PictureSize(width: Int($0.downsampled_width), height: Int($0.downsampled_height)),
        Int($0.v_samp_factor * $0.DCT_scaled_size)
      )
    }
  }

  func readBlocks(into planes: PlanePointers) throws(ImagingError) {
    let lines = UInt32(codec.pointee.max_v_samp_factor * codec.pointee.min_DCT_scaled_size)
    guard cjpeg_read_planes(codec, planes, lines) == 1 else { throw failure.whileDecoding }
  }

  func read(into row: PixelRow) throws(ImagingError) {
    guard let packed, cjpeg_read_row(codec, packed.bytes) == 1 else { throw failure.whileDecoding }
    cmyk?.apply(to: packed)
    row.unpack(packed)
  }

  func finish() throws(ImagingError) {
    if accepted.isAtEnd || cjpeg_finish_decompress(codec) == 1 { return }
    let error = failure.whileDecoding
    // The decoder of arithmetic codes does not warn of bits that are missing in front of the error.
    if codec.pointee.arith_code != 0 {
      try accepted.end(with: error, hasRows: true, .anywhere)
    } else {
      try accepted.endAfterRows(with: error)
    }
  }

  private func begin(isCancelled: () -> Bool) throws(ImagingError) {
    // The scans are consumed one by one here, instead of in one call, so that they can be counted and cancelled.
    let isMultiScan = jpeg_has_multiple_scans(codec) != 0
    codec.pointee.buffered_image = isMultiScan ? 1 : 0
    if isMultiScan { try coefficients.provide(wholePictureBytes, from: memory) }
    guard cjpeg_start_decompress(codec) == 1 else { throw failure.whileDecoding }
    if isMultiScan { try readScans(isCancelled: isCancelled) }
  }

  private func readScans(isCancelled: () -> Bool) throws(ImagingError) {
    var state: Int32 = 0
    repeat {
      if isCancelled() { throw .cancelled }
      guard cjpeg_consume_input(codec, &state) == 1 else {
        let scan = Int(codec.pointee.input_scan_number)
        let hasRows = cjpeg_ends_between_scans(codec) != 0
        try accepted.end(with: failure.whileDecoding, hasRows: hasRows, .refinement("scan", number: scan))
        break
      }
      try ImageLimits.check(scans: Int(codec.pointee.input_scan_number), of: size)
    } while state != JPEG_REACHED_EOI
    guard cjpeg_start_output(codec) == 1 else { throw failure.whileDecoding }
    // Without more scans than are shown the library would read on.
    if accepted.isAtEnd { codec.pointee.input_scan_number += 1 }
  }

  private static func checkColours(_ codec: jpeg_decompress_struct) throws(ImagingError) {
    switch codec.jpeg_color_space {
    case JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB, JCS_CMYK, JCS_YCCK: return
    default: throw .unknownColours(components: Int(codec.num_components))
    }
  }

  var planeDecoder: (any PlaneDecoder)? {
    guard codec.pointee.jpeg_color_space == JCS_YCbCr, let components = codec.pointee.comp_info else { return nil }
    let factors = (0..<3).map {
      ChromaSampling(horizontal: Int(components[$0].h_samp_factor), vertical: Int(components[$0].v_samp_factor))
    }
    let (luma, blue) = (factors[0], factors[1])
    let sampling = ChromaSampling(
      horizontal: luma.horizontal / blue.horizontal, vertical: luma.vertical / blue.vertical)
    guard blue == factors[2], luma.horizontal == sampling.horizontal * blue.horizontal,
      luma.vertical == sampling.vertical * blue.vertical, 1...2 ~= sampling.horizontal, 1...2 ~= sampling.vertical,
      luma.vertical <= 2
    else { return nil }
    return self
  }

  /// The sampling of the two chroma components; 4:2:0 when they differ or luma is no multiple of it.
  private static func chroma(of codec: jpeg_decompress_struct) -> ChromaSampling {
    guard codec.num_components == 3, let components = codec.comp_info else { return .yuv420 }
    let (luma, first, second) = (components[0], components[1], components[2])
    guard first.h_samp_factor == second.h_samp_factor, first.v_samp_factor == second.v_samp_factor,
      luma.h_samp_factor % first.h_samp_factor == 0, luma.v_samp_factor % first.v_samp_factor == 0
    else { return .yuv420 }
    return ChromaSampling(
      horizontal: Int(luma.h_samp_factor / first.h_samp_factor),
      vertical: Int(luma.v_samp_factor / first.v_samp_factor))
  }
}
