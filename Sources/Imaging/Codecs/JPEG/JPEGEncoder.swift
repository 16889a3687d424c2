import CJPEG

/// Encodes JPEG (ITU-T T.81) with libjpeg-turbo, grey or YCbCr, baseline or progressive.
final class JPEGEncoder: PlaneEncoder {
  /// The largest side that libjpeg supports (`JPEG_MAX_DIMENSION`).
  static let maxSide = 65_500

  private let codec: UnsafeMutablePointer<jpeg_compress_struct>
  private let failure: JPEGFailure
  private let destination: JPEGDestination
  private let packed: PackedRow

  static var planeEncoder: (any PlaneEncoder.Type)? { JPEGEncoder.self }

  /// The coefficients, which are held when the Huffman tables depend on all of them.
  static func wholePictureBytes(_ settings: EncodeSettings) -> Int {
    guard settings.jpegCoding != .baseline else { return 0 }
    let chroma = chroma(settings)
    let (width, height) = (Int(DCTSIZE) * chroma.horizontal, Int(DCTSIZE) * chroma.vertical)
    let units = ((settings.info.width + width - 1) / width) * ((settings.info.height + height - 1) / height)
    let blocks = chroma.horizontal * chroma.vertical + (settings.layout.isGrey ? 0 : 2)
    return units * blocks * MemoryLayout<JBLOCK>.size
  }

  convenience init(_ descriptor: Int32, _ settings: EncodeSettings) throws(ImagingError) {
    try self.init(JPEGDestination(descriptor), settings, planes: false)
  }

  convenience init(planesTo descriptor: Int32, _ settings: EncodeSettings) throws(ImagingError) {
    try self.init(JPEGDestination(descriptor), settings, planes: true)
  }

  /// Creates an encoder.
  /// - Parameter planes: Whether it expects planes instead of rows.
  init(_ destination: JPEGDestination, _ settings: EncodeSettings, planes: Bool) throws(ImagingError) {
    let (width, height) = (settings.info.width, settings.info.height)
    guard max(width, height) <= Self.maxSide else {
      throw ImagingError(
        code: .imageTooLarge, message: "a JPEG's sides are at most \(Self.maxSide); the picture is \(width) × \(height)"
      )
    }
    let failure = JPEGFailure()
    let codec = UnsafeMutablePointer<jpeg_compress_struct>.allocate(capacity: 1)
    codec.initialize(to: jpeg_compress_struct())
    do throws(ImagingError) {
      try Self.start(codec, failure, destination, settings, planes: planes)
    } catch {
      jpeg_destroy_compress(codec)
      codec.deallocate()
      throw error
    }
    self.codec = codec
    self.failure = failure
    self.destination = destination
    packed = PackedRow(
      width: width, layout: PixelLayout(isGrey: settings.layout.isGrey, hasAlpha: false, is16Bit: false))
  }

  deinit {
    jpeg_destroy_compress(codec)
    codec.deallocate()
  }

  func write(_ row: PixelRow, isCancelled: () -> Bool) throws(ImagingError) {
    row.pack(packed)
    guard cjpeg_write_row(codec, packed.bytes) == 1 else { throw failure.whileEncoding }
  }

  func writeBlocks(from planes: PlaneBand, rows: Int) throws(ImagingError) {
    let lines = Int(codec.pointee.max_v_samp_factor * DCTSIZE)
    for row in stride(from: 0, to: rows, by: lines) {
      guard cjpeg_write_planes(codec, planes.rows(from: row), UInt32(lines)) == 1 else { throw failure.whileEncoding }
    }
  }

  func finish(isCancelled: () -> Bool) throws(ImagingError) {
    let isFinished = withoutActuallyEscaping(isCancelled) { isCancelled in
      var isCancelled = isCancelled
      return withUnsafeMutablePointer(to: &isCancelled) { pointer in
        var progress = cjpeg_progress()
        progress.context = UnsafeMutableRawPointer(pointer)
        progress.is_cancelled = { context in
          context?.assumingMemoryBound(to: (() -> Bool).self).pointee() == true ? 1 : 0
        }
        return cjpeg_finish_compress(codec, &progress) == 1
      }
    }
    guard isFinished else { throw failure.whileEncoding }
  }

  /// The sampling of the coded picture.
  private static func chroma(_ settings: EncodeSettings) -> ChromaSampling {
    settings.layout.isGrey ? .yuv444 : settings.chroma
  }

  private static func start(
    _ codec: UnsafeMutablePointer<jpeg_compress_struct>, _ failure: JPEGFailure, _ destination: JPEGDestination,
    _ settings: EncodeSettings, planes: Bool
  ) throws(ImagingError) {
    guard cjpeg_open_destination(codec, failure.storage, destination.storage) == 1 else { throw failure.whileEncoding }
    codec.pointee.image_width = JDIMENSION(settings.info.width)
    codec.pointee.image_height = JDIMENSION(settings.info.height)
    codec.pointee.input_components = settings.layout.isGrey ? 1 : planes ? 3 : 4
    codec.pointee.in_color_space = settings.layout.isGrey ? JCS_GRAYSCALE : planes ? JCS_YCbCr : JCS_EXT_RGBX
    let chroma = chroma(settings)
    guard
      cjpeg_prepare_compress(
        codec, Int32(settings.quality), Int32(chroma.horizontal), Int32(chroma.vertical), planes ? 1 : 0) == 1
    else { throw failure.whileEncoding }
    switch settings.jpegCoding {
    case .baseline: break
    case .optimized: codec.pointee.optimize_coding = 1
    case .progressive: guard cjpeg_make_progressive(codec) == 1 else { throw failure.whileEncoding }
    }
    if let density = settings.metadata.density?.perInch {
      codec.pointee.density_unit = density.unit == .none ? 0 : density.unit == .inch ? 1 : 2
      codec.pointee.X_density = UInt16(density.horizontal)
      codec.pointee.Y_density = UInt16(density.vertical)
    }
    guard cjpeg_start_compress(codec) == 1 else { throw failure.whileEncoding }
    for segment in settings.metadata.items.flatMap(JPEGSegment.segments) {
      guard cjpeg_write_marker(codec, Int32(segment.marker), segment.content, UInt32(segment.content.count)) == 1
      else { throw failure.whileEncoding }
    }
  }
}
