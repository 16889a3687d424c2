extension PixelRow {
  /// Writes the pixels to a packed row, rounded to its depth. This row must have the packed row's channels; the value of a
  /// filler is undefined.
  func pack(_ packed: PackedRow) {
    switch (packed.layout.packedSamples, packed.layout.is16Bit) {
    case (1, false): packGrey8(packed)
    case (1, true): packGrey16(packed)
    case (2, false): packGreyAlpha8(packed)
    case (2, true): packGreyAlpha16(packed)
    case (_, false): packColour8(packed, alpha: packed.layout.hasAlpha)
    case (_, true): packColour16(packed, alpha: packed.layout.hasAlpha)
    }
  }

  private func packGrey8(_ packed: PackedRow) {
    for index in 0..<vectors {
      packed.set(index, to: SIMD8<UInt8>(lowBitsOf: SampleScale.bytes(red[index])))
    }
  }

  private func packGrey16(_ packed: PackedRow) {
    for index in 0..<vectors {
      packed.set(index, to: SIMD8<UInt16>(lowBitsOf: SampleScale.words(red[index])))
    }
  }

  private func packGreyAlpha8(_ packed: PackedRow) {
    for index in 0..<vectors {
      let grey = SampleScale.bytes(red[index])
      let lanes = grey | SampleScale.bytes(alpha[index]) &<< 8
      packed.set(index, to: SIMD8<UInt16>(lowBitsOf: lanes))
    }
  }

  private func packGreyAlpha16(_ packed: PackedRow) {
    for index in 0..<vectors {
      let grey = SampleScale.words(red[index]) & 0xFFFF
      packed.set(index, to: grey | SampleScale.words(alpha[index]) &<< 16)
    }
  }

  private func packColour8(_ packed: PackedRow, alpha takesAlpha: Bool) {
    for index in 0..<vectors {
      var lanes = SampleScale.bytes(red[index])
      lanes |= SampleScale.bytes(green[index]) &<< 8
      lanes |= SampleScale.bytes(blue[index]) &<< 16
      if takesAlpha {
        lanes = lanes & 0xFF_FFFF | SampleScale.bytes(alpha[index]) &<< 24
      }
      packed.set(index, to: lanes)
    }
  }

  private func packColour16(_ packed: PackedRow, alpha takesAlpha: Bool) {
    for index in 0..<vectors {
      var redGreen = SampleScale.words(red[index]) & 0xFFFF
      redGreen |= SampleScale.words(green[index]) &<< 16
      var blueAlpha = SampleScale.words(blue[index]) & 0xFFFF
      if takesAlpha { blueAlpha |= SampleScale.words(alpha[index]) &<< 16 }
      var lanes = SIMD16<UInt32>()
      lanes.evenHalf = redGreen
      lanes.oddHalf = blueAlpha
      packed.set(index, to: lanes)
    }
  }
}
