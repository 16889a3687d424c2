extension PixelRow {
  /// Gives the pixels to a packed row, rounded to its depth. The packed row's channels must be among this row's; a
  /// filler means nothing.
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
      pixels[index] = SIMD8(truncatingIfNeeded: SampleScale.integers(red[index], times: SampleScale.eightBits))
    }
  }

  private func packGrey16(_ target: UnsafeMutableRawPointer) {
    let pixels = target.assumingMemoryBound(to: SIMD8<UInt16>.self)
    for index in 0..<vectors {
      pixels[index] = SIMD8(truncatingIfNeeded: SampleScale.integers(red[index], times: SampleScale.sixteenBits))
    }
  }

  private func packGreyAlpha8(_ target: UnsafeMutableRawPointer) {
    let pixels = target.assumingMemoryBound(to: SIMD8<UInt16>.self)
    for index in 0..<vectors {
      let grey = SampleScale.integers(red[index], times: SampleScale.eightBits)
      let lanes = grey | SampleScale.integers(alpha[index], times: SampleScale.eightBits) &<< 8
      pixels[index] = SIMD8(truncatingIfNeeded: lanes)
    }
  }

  private func packGreyAlpha16(_ target: UnsafeMutableRawPointer) {
    let pixels = target.assumingMemoryBound(to: SIMD8<UInt32>.self)
    for index in 0..<vectors {
      let grey = SampleScale.integers(red[index], times: SampleScale.sixteenBits) & 0xFFFF
      pixels[index] = grey | SampleScale.integers(alpha[index], times: SampleScale.sixteenBits) &<< 16
    }
  }

  private func packColour8(_ target: UnsafeMutableRawPointer, alpha takesAlpha: Bool) {
    let pixels = target.assumingMemoryBound(to: SIMD8<UInt32>.self)
    for index in 0..<vectors {
      var lanes = SampleScale.integers(red[index], times: SampleScale.eightBits)
      lanes |= SampleScale.integers(green[index], times: SampleScale.eightBits) &<< 8
      lanes |= SampleScale.integers(blue[index], times: SampleScale.eightBits) &<< 16
      if takesAlpha {
        lanes = lanes & 0xFF_FFFF | SampleScale.integers(alpha[index], times: SampleScale.eightBits) &<< 24
      }
      pixels[index] = lanes
    }
  }

  private func packColour16(_ target: UnsafeMutableRawPointer, alpha takesAlpha: Bool) {
    let pixels = target.assumingMemoryBound(to: SIMD16<UInt32>.self)
    for index in 0..<vectors {
      var redGreen = SampleScale.integers(red[index], times: SampleScale.sixteenBits) & 0xFFFF
      redGreen |= SampleScale.integers(green[index], times: SampleScale.sixteenBits) &<< 16
      var blueAlpha = SampleScale.integers(blue[index], times: SampleScale.sixteenBits) & 0xFFFF
      if takesAlpha { blueAlpha |= SampleScale.integers(alpha[index], times: SampleScale.sixteenBits) &<< 16 }
      var lanes = SIMD16<UInt32>()
      lanes.evenHalf = redGreen
      lanes.oddHalf = blueAlpha
      pixels[index] = lanes
    }
  }
}
