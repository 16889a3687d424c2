extension PixelRow {
  /// Gives the pixels one after another: red or grey, green, blue, alpha; what there is not is 0.
  func interleave(into pixels: UnsafeMutablePointer<SIMD4<Float>>) {
    let planes = planes.map { UnsafeRawPointer($0).assumingMemoryBound(to: Float.self) }
    switch planes.count {
    case 1: for index in 0..<width { pixels[index] = [planes[0][index], 0, 0, 0] }
    case 2: for index in 0..<width { pixels[index] = [planes[0][index], 0, 0, planes[1][index]] }
    case 3:
      let (red, green, blue) = (planes[0], planes[1], planes[2])
      for index in 0..<width { pixels[index] = [red[index], green[index], blue[index], 0] }
    default:
      let (red, green, blue, alpha) = (planes[0], planes[1], planes[2], planes[3])
      for index in 0..<width { pixels[index] = [red[index], green[index], blue[index], alpha[index]] }
    }
  }

  /// Takes pixels as `interleave` gives them.
  func deinterleave(_ pixels: UnsafeMutablePointer<SIMD4<Float>>) {
    let lanes = (layout.isGrey ? [0] : [0, 1, 2]) + (layout.hasAlpha ? [3] : [])
    for (plane, lane) in zip(planes, lanes) {
      plane.withMemoryRebound(to: Float.self, capacity: width) { samples in
        for index in 0..<width { samples[index] = pixels[index][lane] }
      }
    }
  }
}
