/// The part of a picture that is shown (`clap`, ISO/IEC 14496-12 § 12.1.4.1), computed as by libheif 1.15, which rounds each of
/// its edges and has fractions of limited precision.
struct CleanAperture {
  private let width, height: Fraction
  /// The distance of its middle from that of the picture.
  private let horizontalOffset, verticalOffset: Fraction

  /// - Throws: `image-corrupt`.
  init(_ content: HEIFReader) throws(ImagingError) {
    var content = content
    width = try Fraction(&content, isSigned: false)
    height = try Fraction(&content, isSigned: false)
    horizontalOffset = try Fraction(&content, isSigned: true)
    verticalOffset = try Fraction(&content, isSigned: true)
  }

  /// The size of the part that is within a picture.
  /// - Throws: `image-corrupt` when it is empty.
  func size(in picture: PictureSize) throws(ImagingError) -> PictureSize {
    let left = try start(width, horizontalOffset, of: picture.width).truncated
    let top = try start(height, verticalOffset, of: picture.height).rounded
    let size = PictureSize(
      width: try length(width, from: left, of: picture.width), height: try length(height, from: top, of: picture.height)
    )
    guard size.width > 0, size.height > 0 else { throw .heif("its picture is cropped to no size") }
    return size
  }

  private func start(_ aperture: Fraction, _ offset: Fraction, of side: Int) throws(ImagingError) -> Fraction {
    let middle = try offset.adding(Fraction(side - 1, 2))
    return try middle.subtracting(aperture.adding(-1).halved())
  }

  private func length(_ aperture: Fraction, from start: Int, of side: Int) throws(ImagingError) -> Int {
    let end = try aperture.adding(-1).adding(start).rounded
    return min(end, side - 1) - max(start, 0) + 1
  }
}

/// A fraction of integers of 32 bits, with a denominator above 0. A large one is halved above and below the line.
private struct Fraction {
  private let numerator, denominator: Int

  /// Larger ones are halved.
  private static let maximum = 1 << 16

  /// - Throws: `image-corrupt` when a number has more than 32 bits, or the fraction is too large.
  init(_ numerator: Int, _ denominator: Int) throws(ImagingError) {
    guard Int32(exactly: numerator) != nil, Int32(exactly: denominator) != nil else { throw Self.invalid }
    var (numerator, denominator) = (numerator, denominator)
    while max(denominator, abs(numerator)) > Self.maximum {
      numerator /= 2
      denominator /= 2
    }
    guard denominator > 0 else { throw Self.invalid }
    (self.numerator, self.denominator) = (numerator, denominator)
  }

  init(_ content: inout HEIFReader, isSigned: Bool) throws(ImagingError) {
    guard let numerator = content.integer(4), let denominator = content.integer(4) else {
      throw .heif("its picture is cropped to no size")
    }
    try self.init(isSigned ? Int(Int32(truncatingIfNeeded: numerator)) : numerator, denominator)
  }

  func adding(_ other: Fraction) throws(ImagingError) -> Fraction { try combined(with: other, sign: 1) }

  func subtracting(_ other: Fraction) throws(ImagingError) -> Fraction { try combined(with: other, sign: -1) }

  func adding(_ number: Int) throws(ImagingError) -> Fraction {
    try Fraction(numerator + number * denominator, denominator)
  }

  func halved() throws(ImagingError) -> Fraction { try Fraction(numerator, 2 * denominator) }

  /// The integer next to it, towards 0.
  var truncated: Int { numerator / denominator }

  /// The integer that is nearest; of a negative number the one above it.
  var rounded: Int { (numerator + denominator / 2) / denominator }

  private func combined(with other: Fraction, sign: Int) throws(ImagingError) -> Fraction {
    if denominator == other.denominator { return try Fraction(numerator + sign * other.numerator, denominator) }
    return try Fraction(
      numerator * other.denominator + sign * other.numerator * denominator, denominator * other.denominator)
  }

  private static let invalid = ImagingError.heif("its picture is cropped by numbers that are too large")
}
