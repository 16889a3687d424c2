extension PixelRow {
  /// Gives the pixels one after another: red or grey, green, blue, alpha; what there is not is 0.
  func interleave(into pixels: UnsafeMutablePointer<SIMD4<Float>>) {
    let (red, green, blue, alpha) = (samples(0), samples(1), samples(2), samples(planeCount - 1))
    switch planeCount {
    case 1: for index in 0..<width { pixels[index] = [red[index], 0, 0, 0] }
    case 2: for index in 0..<width { pixels[index] = [red[index], 0, 0, alpha[index]] }
    case 3: for index in 0..<width { pixels[index] = [red[index], green[index], blue[index], 0] }
    default: for index in 0..<width { pixels[index] = [red[index], green[index], blue[index], alpha[index]] }
    }
  }

  /// Takes pixels as `interleave` gives them.
  func deinterleave(_ pixels: UnsafeMutablePointer<SIMD4<Float>>) {
    let lanes = (layout.isGrey ? [0] : [0, 1, 2]) + (layout.hasAlpha ? [3] : [])
    for (plane, lane) in lanes.enumerated() {
      let samples = samples(plane)
      for index in 0..<width { samples[index] = pixels[index][lane] }
    }
  }
}
