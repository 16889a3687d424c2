import CLCMS
import Synchronization

/// A transform from a colour space to sRGB by littleCMS: perceptual intent, no black point compensation.
final class ColourTransform: @unchecked Sendable {  // immutable, and littleCMS keeps no state between pixels
  /// The pixel format of packed rows.
  enum Pixels: Hashable, Sendable {
    /// Red, green, blue, and alpha or a filler, which does not change.
    case colour(is16Bit: Bool)
    /// Grey remains grey, with sRGB's tone curve; alpha does not change.
    case grey(hasAlpha: Bool, is16Bit: Bool)
    /// Inverted 8-bit CMYK, as written by Adobe, becomes red, green, blue and a filler.
    case cmyk
  }

  private let handle: cmsHTRANSFORM

  private init(_ handle: cmsHTRANSFORM) { self.handle = handle }

  deinit { cmsDeleteTransform(handle) }

  /// Creates the transform of a colour space, unless it is sRGB or cannot be converted.
  static func make(from colour: ColourSpace, _ pixels: Pixels) -> ColourConversion {
    if colour == .sRGB { return .identity }
    guard let source = profile(of: colour, pixels) else { return .unusable }
    defer { cmsCloseProfile(source) }
    guard embeddedClasses.contains(cmsGetDeviceClass(source)), cmsGetColorSpace(source) == pixels.space,
      let target = pixels.target
    else { return .unusable }
    defer { cmsCloseProfile(target) }
    let (from, to) = pixels.formats
    guard
      let handle = cmsCreateTransform(
        source, from, target, to, cmsUInt32Number(INTENT_PERCEPTUAL), pixels.flags)
    else { return .unusable }
    let transform = ColourTransform(handle)
    return transform.isIdentity(pixels) ? .identity : .transform(transform)
  }

  /// The classes of profiles that describe the colours of a picture: no device link, abstract or named colour profile
  /// (ICC.1:2022 § 7.2.7).
  private static let embeddedClasses = [
    cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass,
  ]

  /// Converts packed pixels in place.
  func apply(to pixels: UnsafeMutableRawPointer, count: Int) {
    cmsDoTransform(handle, pixels, pixels, cmsUInt32Number(count))
  }

  private static func profile(of colour: ColourSpace, _ pixels: Pixels) -> cmsHPROFILE? {
    switch colour {
    case .sRGB: return nil
    case .profile(let bytes): return cmsOpenProfileFromMem(bytes, cmsUInt32Number(bytes.count))
    case .gamma(let gamma, let chromaticities):
      // PNG writers use 1/2.2 for sRGB, for readers that do not support the `sRGB` chunk.
      let curve = (45_000...46_000).contains(gamma) ? sRGBCurve() : cmsBuildGamma(nil, 100_000 / Double(gamma))
      defer { cmsFreeToneCurve(curve) }
      if case .grey = pixels { return cmsCreateGrayProfile(cmsD50_xyY(), curve) }
      return profile(chromaticities?.map { Double($0) / 100_000 } ?? sRGBPoints, curve)
    case .cicp(let colour):
      if case .grey = pixels { return colour.openProfile(isGrey: true) }
      return colour.openProfile()
    }
  }

  /// IEC 61966-2-1, as a parametric curve of type 4.
  static func sRGBCurve() -> OpaquePointer? {
    cmsBuildParametricToneCurve(nil, 4, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
  }

  /// x and y of sRGB's white, red, green and blue.
  static let sRGBPoints = [0.3127, 0.3290, 0.64, 0.33, 0.30, 0.60, 0.15, 0.06]

  /// A profile of these points and this curve for all colours, which the caller closes.
  static func profile(_ points: [Double], _ curve: OpaquePointer?) -> cmsHPROFILE? {
    var white = cmsCIExyY(x: points[0], y: points[1], Y: 1)
    var primaries = cmsCIExyYTRIPLE(
      Red: cmsCIExyY(x: points[2], y: points[3], Y: 1), Green: cmsCIExyY(x: points[4], y: points[5], Y: 1),
      Blue: cmsCIExyY(x: points[6], y: points[7], Y: 1))
    var curves = [curve, curve, curve]
    return cmsCreateRGBProfile(&white, &primaries, &curves)
  }

  /// Whether colours all over the cube do not change.
  private func isIdentity(_ pixels: Pixels) -> Bool {
    switch pixels {
    case .cmyk: return false
    case .grey(let hasAlpha, let is16Bit):
      let channels = hasAlpha ? 2 : 1
      return preserves((0...255).flatMap { [UInt8](repeating: $0, count: channels) }, is16Bit: is16Bit, channels)
    case .colour(let is16Bit):
      let steps: [UInt8] = [0, 51, 102, 153, 204, 255]
      let greys = (0...255).flatMap { [UInt8](repeating: $0, count: 4) }
      return preserves(
        greys + steps.flatMap { red in steps.flatMap { green in steps.flatMap { [red, green, $0, 255] } } },
        is16Bit: is16Bit, 4)
    }
  }

  private func preserves(_ samples: [UInt8], is16Bit: Bool, _ channels: Int) -> Bool {
    guard is16Bit else {
      var result = samples
      result.withUnsafeMutableBytes {
        if let start = $0.baseAddress { apply(to: start, count: samples.count / channels) }
      }
      return zip(samples, result).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
    }
    let deep = samples.map { UInt16($0) * 257 }
    var result = deep
    result.withUnsafeMutableBytes {
      if let start = $0.baseAddress { apply(to: start, count: samples.count / channels) }
    }
    return zip(deep, result).allSatisfy { abs(Int($0) - Int($1)) <= 257 }
  }
}

extension ColourTransform.Pixels {
  fileprivate var space: cmsColorSpaceSignature {
    switch self {
    case .colour: cmsSigRgbData
    case .grey: cmsSigGrayData
    case .cmyk: cmsSigCmykData
    }
  }

  /// The profile of the result, which the caller closes.
  fileprivate var target: cmsHPROFILE? {
    guard case .grey = self else { return cmsCreate_sRGBProfile() }
    let curve = ColourTransform.sRGBCurve()
    defer { cmsFreeToneCurve(curve) }
    return cmsCreateGrayProfile(cmsD50_xyY(), curve)
  }

  fileprivate var formats: (from: cmsUInt32Number, to: cmsUInt32Number) {
    switch self {
    case .colour(let is16Bit): is16Bit ? (clcms_rgba16, clcms_rgba16) : (clcms_rgba8, clcms_rgba8)
    case .grey(false, let is16Bit): is16Bit ? (clcms_grey16, clcms_grey16) : (clcms_grey8, clcms_grey8)
    case .grey(true, let is16Bit):
      is16Bit ? (clcms_grey_alpha16, clcms_grey_alpha16) : (clcms_grey_alpha8, clcms_grey_alpha8)
    case .cmyk: (clcms_cmyk8_inverted, clcms_rgba8)
    }
  }

  /// No cache between pixels, so that threads can share a transform. And no optimisation except for 8-bit colour, where it
  /// is exact: elsewhere littleCMS would interpolate between 33 points, too few where a curve is steep.
  fileprivate var flags: cmsUInt32Number {
    switch self {
    case .colour(false), .cmyk: cmsUInt32Number(cmsFLAGS_NOCACHE)
    case .colour(true), .grey: cmsUInt32Number(cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE)
    }
  }
}

/// The conversion of a colour space to sRGB.
enum ColourConversion {
  /// None: the colour space equals sRGB to within 1 of 255.
  case identity
  case transform(ColourTransform)
  /// The profile is invalid or does not apply to the pixels, or littleCMS cannot make a transform from the colour space.
  case unusable
}

/// Caches the last used transforms: creating one takes longer than converting a small picture.
final class ColourTransformCache: Sendable {
  static let shared = ColourTransformCache()

  private struct Entry {
    let colour: ColourSpace
    let pixels: ColourTransform.Pixels
    let conversion: ColourConversion
  }

  /// The largest number of transforms; one for CMYK takes a megabyte.
  private static let capacity = 8

  private let entries = Mutex<[Entry]>([])

  /// Returns the conversion of a colour space to sRGB.
  func conversion(from colour: ColourSpace, _ pixels: ColourTransform.Pixels) -> ColourConversion {
    if colour == .sRGB { return .identity }
    let cached = entries.withLock { entries -> Entry? in
      guard let index = entries.firstIndex(where: { $0.pixels == pixels && $0.colour == colour }) else { return nil }
      let entry = entries.remove(at: index)
      entries.append(entry)
      return entry
    }
    if let cached { return cached.conversion }
    let conversion = ColourTransform.make(from: colour, pixels)
    entries.withLock { entries in
      entries.append(Entry(colour: colour, pixels: pixels, conversion: conversion))
      if entries.count > Self.capacity { entries.removeFirst() }
    }
    return conversion
  }
}

extension Metadata {
  /// The transform of a picture's samples to sRGB, nil when none is needed, and the metadata of the samples after it. A
  /// profile that is invalid or does not apply to the pixels is removed, and the colour space is that without it.
  func conversion(of pixels: ColourTransform.Pixels) -> (transform: ColourTransform?, metadata: Metadata) {
    let colour = colour
    switch ColourTransformCache.shared.conversion(from: colour, pixels) {
    case .identity: return (nil, self)
    case .transform(let transform): return (transform, withoutColourSpace)
    case .unusable:
      guard case .profile = colour else { return (nil, self) }
      return withoutProfile.conversion(of: pixels)
    }
  }
}
