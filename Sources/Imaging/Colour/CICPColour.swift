import CLCMS

/// A colour space as code points of ITU-T H.273, as in an `nclx` colour box of HEIF and in PNG's `cICP` chunk.
struct CICPColour: Hashable, Sendable {
  let primaries, transfer: Int

  init(primaries: Int, transfer: Int) { (self.primaries, self.transfer) = (primaries, transfer) }

  /// Whether the transfer function is one of HDR: PQ (SMPTE ST 2084) or HLG (ARIB STD-B67).
  var isHDR: Bool { transfer == 16 || transfer == 18 }

  /// Whether it is sRGB, or is taken for it (H.273 tables 2 and 3), as all other primaries than those of ITU-R BT.2020 and
  /// Display P3 with all other curves than powers are, such as those of cameras and of HDR.
  var isSRGB: Bool { points == nil && gamma == nil }

  /// x and y of white, red, green and blue; nil for sRGB's.
  private var points: [Double]? {
    switch primaries {
    case 9: [0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046]
    case 12: [0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
    default: nil
    }
  }

  /// The exponent of a power; nil for sRGB's curve.
  private var gamma: Double? { [4: 2.2, 5: 2.8, 8: 1][transfer] }

  /// A profile for colour or for grey, which the caller closes.
  func openProfile(isGrey: Bool = false) -> cmsHPROFILE? {
    let curve = gamma.map { cmsBuildGamma(nil, $0) } ?? ColourTransform.sRGBCurve()
    defer { cmsFreeToneCurve(curve) }
    if isGrey { return cmsCreateGrayProfile(cmsD50_xyY(), curve) }
    return ColourTransform.profile(points ?? ColourTransform.sRGBPoints, curve)
  }

  /// The bytes of a profile for colour; nil for sRGB.
  var profile: [UInt8]? {
    guard !isSRGB, let profile = openProfile() else { return nil }
    defer { cmsCloseProfile(profile) }
    var count: cmsUInt32Number = 0
    guard cmsSaveProfileToMem(profile, nil, &count) != 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    return cmsSaveProfileToMem(profile, &bytes, &count) != 0 ? bytes : nil
  }
}

extension CICPColour {
  /// - Parameter box: The content of a colour box; nil for others than `nclx`.
  init?(_ box: HEIFReader) {
    var box = box
    guard box.text(4) == "nclx", let primaries = box.integer(2), let transfer = box.integer(2) else { return nil }
    self.init(primaries: primaries, transfer: transfer)
  }

  /// - Parameter chunk: The content of a `cICP` chunk (W3C PNG, third edition, § 11.3.2.6); nil when it is invalid, or says that
  ///   samples do not have the full range, which is not supported.
  init?(chunk: [UInt8]) {
    guard chunk.count == 4, chunk[2] == 0, chunk[3] == 1 else { return nil }
    self.init(primaries: Int(chunk[0]), transfer: Int(chunk[1]))
  }
}
