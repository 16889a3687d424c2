import CLCMS

/// The colour space in an `nclx` colour box, as numbers of ITU-T H.273.
struct NCLXColour: Equatable {
  let primaries, transfer: Int

  init(primaries: Int, transfer: Int) { (self.primaries, self.transfer) = (primaries, transfer) }

  /// - Parameter box: The content of a colour box; nil for others than `nclx`.
  init?(_ box: HEIFReader) {
    var box = box
    guard box.text(4) == "nclx", let primaries = box.integer(2), let transfer = box.integer(2) else { return nil }
    self.init(primaries: primaries, transfer: transfer)
  }

  /// A profile for it. nil for sRGB, which is also taken for what has no profile (H.273 tables 2 and 3): other primaries than
  /// those of ITU-R BT.2020 and Display P3, and other curves than powers, such as those of cameras and of HDR.
  var profile: [UInt8]? {
    let points: [Double]? = [
      9: [0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046],
      12: [0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060],
    ][primaries]
    let gamma: Double? = [4: 2.2, 5: 2.8, 8: 1][transfer]
    guard points != nil || gamma != nil else { return nil }
    let curve = gamma.map { cmsBuildGamma(nil, $0) } ?? ColourTransform.sRGBCurve()
    defer { cmsFreeToneCurve(curve) }
    guard let profile = ColourTransform.profile(points ?? ColourTransform.sRGBPoints, curve) else { return nil }
    defer { cmsCloseProfile(profile) }
    var count: cmsUInt32Number = 0
    guard cmsSaveProfileToMem(profile, nil, &count) != 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(count))
    return cmsSaveProfileToMem(profile, &bytes, &count) != 0 ? bytes : nil
  }
}
