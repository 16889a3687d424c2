/// Converts decoded samples of a TIFF to packed rows: of 8 bits, or of 16 when they have more.
final class TIFFSamples {
  /// The layout of packed rows.
  let layout: PixelLayout
  private let picture: TIFFPicture
  private let cmyk: CMYKConversion?
  /// The 8-bit samples of those of fewer bits.
  private let scaled: [UInt8]
  private let indices: UnsafeMutableBufferPointer<UInt8>

  init(_ picture: TIFFPicture, _ colour: ColourSpace) {
    self.picture = picture
    var (isGrey, conversion) = (false, CMYKConversion?.none)
    switch picture.colours {
    case .grey: isGrey = true
    case .cmyk: conversion = CMYKConversion(colour)
    default: break
    }
    cmyk = conversion
    layout = PixelLayout(
      isGrey: isGrey, hasAlpha: picture.alpha != nil, is16Bit: picture.bits > 8 && conversion == nil)
    let maximum = 1 << min(picture.bits, 8) - 1
    scaled = (0...maximum).map { UInt8(($0 * 255 + maximum / 2) / maximum) }
    indices = .allocate(capacity: picture.width)
    indices.initialize(repeating: 0)
  }

  deinit { indices.deallocate() }

  /// The bytes that must be readable behind a row.
  static let padding = 4

  /// Converts a row.
  /// - Parameters:
  ///   - source: The first sample; those of the planes follow each other.
  ///   - planeBytes: The distance of planes.
  func convert(_ source: UnsafeRawPointer, planeBytes: Int, to packed: PackedRow) {
    let count = picture.colours.count
    var alpha: Int?
    switch picture.colours {
    case .palette(let pixels):
      copy(sample: 0, from: source, planeBytes, to: UnsafeMutableRawPointer(indices.baseAddress.unsafelyUnwrapped), 1)
      for (column, index) in indices.enumerated() {
        packed.bytes.storeBytes(of: pixels[Int(index)], toByteOffset: 4 * column, as: UInt32.self)
      }
      if picture.alpha != nil { alpha = 3 }
    default:
      for sample in 0..<count { copy(sample: sample, from: source, planeBytes, to: packed, at: sample) }
      if picture.alpha != nil { alpha = cmyk == nil ? count : nil }
    }
    if let alpha { copy(sample: count, from: source, planeBytes, to: packed, at: alpha) }
    if picture.alpha == .associated, let alpha { divide(packed, by: alpha) }
    if case .grey(true) = picture.colours { invert(packed, first: count) }
    guard let cmyk else { return }
    invert(packed, first: count)
    cmyk.apply(to: packed)
    guard picture.alpha != nil else { return }
    copy(sample: count, from: source, planeBytes, to: packed, at: 3)
  }

  private func copy(
    sample: Int, from source: UnsafeRawPointer, _ planeBytes: Int, to packed: PackedRow, at channel: Int
  ) {
    copy(
      sample: sample, from: source, planeBytes,
      to: packed.bytes + channel * (layout.is16Bit ? 2 : 1), layout.packedSamples)
  }

  /// Copies a colour, or alpha, whose number is that behind the last colour.
  /// - Parameter stride: The distance of samples in the target.
  private func copy(
    sample: Int, from source: UnsafeRawPointer, _ planeBytes: Int, to target: UnsafeMutableRawPointer, _ stride: Int
  ) {
    let step = picture.isSeparate ? 1 : picture.samples
    let isAlpha = sample == picture.colours.count
    let first = picture.isSeparate ? 0 : isAlpha ? picture.alphaSample ?? 0 : sample
    let source = picture.isSeparate ? source + sample * planeBytes : source
    let (width, bits) = (picture.width, picture.bits)
    let (bytes, words) = (target.assumingMemoryBound(to: UInt8.self), target.assumingMemoryBound(to: UInt16.self))
    switch (bits, layout.is16Bit) {
    case (8, _):
      let samples = source.assumingMemoryBound(to: UInt8.self) + first
      for column in 0..<width { bytes[column * stride] = samples[column * step] }
    case (16, true):
      let samples = source.assumingMemoryBound(to: UInt16.self) + first
      for column in 0..<width { words[column * stride] = samples[column * step] }
    case (16, false):
      let samples = source.assumingMemoryBound(to: UInt16.self) + first
      for column in 0..<width {
        bytes[column * stride] = UInt8(truncatingIfNeeded: (UInt32(samples[column * step]) * 255 + 32_767) / 65_535)
      }
    case (...7, _):
      var isIndex = false
      if case .palette = picture.colours { isIndex = !isAlpha }
      for column in 0..<width {
        let value = Self.bits(bits, at: (column * step + first) * bits, source)
        bytes[column * stride] = isIndex ? UInt8(truncatingIfNeeded: value) : scaled[value]
      }
    default:
      let (maximum, wanted) = (1 << bits - 1, layout.is16Bit ? 65_535 : 255)
      for column in 0..<width {
        let value = Self.bits(bits, at: (column * step + first) * bits, source)
        let result = (value * wanted + maximum / 2) / maximum
        if layout.is16Bit {
          words[column * stride] = UInt16(truncatingIfNeeded: result)
        } else {
          bytes[column * stride] = UInt8(truncatingIfNeeded: result)
        }
      }
    }
  }

  /// A number of 1…15 bits, the most significant one first.
  @inline(__always)
  private static func bits(_ count: Int, at place: Int, _ source: UnsafeRawPointer) -> Int {
    let four = UInt32(bigEndian: source.loadUnaligned(fromByteOffset: place / 8, as: UInt32.self))
    return Int((four << UInt32(place % 8)) >> UInt32(32 - count))
  }

  /// Divides colours by the alpha that they have been multiplied by.
  private func divide(_ packed: PackedRow, by alpha: Int) {
    func divide<Sample: FixedWidthInteger & UnsignedInteger>(_ samples: UnsafeMutablePointer<Sample>) {
      let maximum = UInt32(Sample.max)
      for column in 0..<picture.width {
        let pixel = samples + column * layout.packedSamples
        let divisor = UInt32(pixel[alpha])
        if divisor == maximum { continue }
        for channel in 0..<alpha {
          let value = divisor == 0 ? 0 : (UInt32(pixel[channel]) * maximum + divisor / 2) / divisor
          pixel[channel] = Sample(truncatingIfNeeded: min(value, maximum))
        }
      }
    }
    if layout.is16Bit {
      divide(packed.bytes.assumingMemoryBound(to: UInt16.self))
    } else {
      divide(packed.bytes.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// Inverts the first channels of each pixel.
  private func invert(_ packed: PackedRow, first count: Int) {
    func invert<Sample: FixedWidthInteger>(_ samples: UnsafeMutablePointer<Sample>) {
      for column in 0..<picture.width {
        for channel in 0..<count { samples[column * layout.packedSamples + channel] ^= Sample.max }
      }
    }
    if layout.is16Bit {
      invert(packed.bytes.assumingMemoryBound(to: UInt16.self))
    } else {
      invert(packed.bytes.assumingMemoryBound(to: UInt8.self))
    }
  }
}
