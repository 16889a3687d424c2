extension PixelRow {
  /// Gives the pixels to a packed row, rounded to its depth. The packed row's channels must be among this row's; a
  /// filler is 0.
  func pack(_ packed: PackedRow) {
    let target = packed.bytes
    switch (packed.layout.packedSamples, packed.layout.isDeep) {
    case (1, false): packGrey8(target)
    case (1, true): packGrey16(target)
    case (2, false): packGreyAlpha8(target)
    case (2, true): packGreyAlpha16(target)
    case (_, false): packColour8(target, alpha: packed.layout.hasAlpha)
    case (_, true): packColour16(target, alpha: packed.layout.hasAlpha)
    }
  }

  private func packGrey8(_ target: UnsafeMutableRawPointer) {
    let pixels = target.assumingMemoryBound(to: SIMD8<UInt8>.self)
    for index in 0..<vectors {
      pixels[index] = SIMD8(truncatingIfNeeded: SampleScale.integers(red[index], times: 255))
    }
  }

  private func packGrey16(_ target: UnsafeMutableRawPointer) {
    let pixels = target.assumingMemoryBound(to: SIMD8<UInt16>.self)
    for index in 0..<vectors {
      pixels[index] = SIMD8(truncatingIfNeeded: SampleScale.integers(red[index], times: 65535))
    }
  }

  private func packGreyAlpha8(_ target: UnsafeMutableRawPointer) {
    let pixels = target.assumingMemoryBound(to: SIMD8<UInt16>.self)
    for index in 0..<vectors {
      let lanes =
        SampleScale.integers(red[index], times: 255) | SampleScale.integers(alpha[index], times: 255) &<< 8
      pixels[index] = SIMD8(truncatingIfNeeded: lanes)
    }
  }

  private func packGreyAlpha16(_ target: UnsafeMutableRawPointer) {
    let pixels = target.assumingMemoryBound(to: SIMD8<UInt32>.self)
    for index in 0..<vectors {
      pixels[index] =
        SampleScale.integers(red[index], times: 65535) | SampleScale.integers(alpha[index], times: 65535) &<< 16
    }
  }

  private func packColour8(_ target: UnsafeMutableRawPointer, alpha takesAlpha: Bool) {
    let pixels = target.assumingMemoryBound(to: SIMD8<UInt32>.self)
    for index in 0..<vectors {
      var lanes = SampleScale.integers(red[index], times: 255)
      lanes |= SampleScale.integers(green[index], times: 255) &<< 8
      lanes |= SampleScale.integers(blue[index], times: 255) &<< 16
      if takesAlpha { lanes |= SampleScale.integers(alpha[index], times: 255) &<< 24 }
      pixels[index] = lanes
    }
  }

  private func packColour16(_ target: UnsafeMutableRawPointer, alpha takesAlpha: Bool) {
    let pixels = target.assumingMemoryBound(to: SIMD16<UInt32>.self)
    for index in 0..<vectors {
      var lanes = SIMD16<UInt32>()
      lanes.evenHalf =
        SampleScale.integers(red[index], times: 65535) | SampleScale.integers(green[index], times: 65535) &<< 16
      var blueAlpha = SampleScale.integers(blue[index], times: 65535)
      if takesAlpha { blueAlpha |= SampleScale.integers(alpha[index], times: 65535) &<< 16 }
      lanes.oddHalf = blueAlpha
      pixels[index] = lanes
    }
  }
}
