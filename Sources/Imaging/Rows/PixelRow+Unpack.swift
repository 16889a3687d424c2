extension PixelRow {
  /// Reads the pixels of a packed row. A row with alpha becomes opaque when the packed row has none; both must be grey or
  /// both coloured.
  func unpack(_ packed: PackedRow) {
    switch (packed.layout.packedSamples, packed.layout.is16Bit) {
    case (1, false): unpack(packed, of: SIMD8<UInt8>.self, into: red)
    case (1, true): unpack(packed, of: SIMD8<UInt16>.self, into: red)
    case (2, false): unpackGreyAlpha8(packed)
    case (2, true): unpackGreyAlpha16(packed)
    case (_, false): unpackColour8(packed, alpha: packed.layout.hasAlpha && layout.hasAlpha)
    case (_, true): unpackColour16(packed, alpha: packed.layout.hasAlpha && layout.hasAlpha)
    }
    if layout.hasAlpha, !packed.layout.hasAlpha {
      alpha.update(repeating: SIMD8(repeating: 1), count: vectors)
    }
  }

  @inline(__always)
  private func unpack<Packed: SIMD & BitwiseCopyable>(
    _ packed: PackedRow, of type: Packed.Type, into plane: UnsafeMutablePointer<SIMD8<Float>>
  ) where Packed.Scalar: FixedWidthInteger {
    let factor = 1 / Float(Packed.Scalar.max)
    for index in 0..<vectors {
      let lanes = SIMD8<UInt32>(lowBitsOf: packed.vector(index, as: Packed.self))
      plane[index] = SampleScale.floats(lanes, times: factor)
    }
  }

  private func unpackGreyAlpha8(_ packed: PackedRow) {
    for index in 0..<vectors {
      let lanes = SIMD8<UInt32>(lowBitsOf: packed.vector(index, as: SIMD8<UInt16>.self))
      red[index] = SampleScale.floats(lanes & 0xFF, times: 1 / 255)
      if layout.hasAlpha { alpha[index] = SampleScale.floats(lanes &>> 8, times: 1 / 255) }
    }
  }

  private func unpackGreyAlpha16(_ packed: PackedRow) {
    for index in 0..<vectors {
      let lanes = packed.vector(index, as: SIMD8<UInt32>.self)
      red[index] = SampleScale.floats(lanes & 0xFFFF, times: 1 / 65535)
      if layout.hasAlpha { alpha[index] = SampleScale.floats(lanes &>> 16, times: 1 / 65535) }
    }
  }

  private func unpackColour8(_ packed: PackedRow, alpha takesAlpha: Bool) {
    for index in 0..<vectors {
      let lanes = packed.vector(index, as: SIMD8<UInt32>.self)
      red[index] = SampleScale.floats(lanes & 0xFF, times: 1 / 255)
      green[index] = SampleScale.floats((lanes &>> 8) & 0xFF, times: 1 / 255)
      blue[index] = SampleScale.floats((lanes &>> 16) & 0xFF, times: 1 / 255)
      if takesAlpha { alpha[index] = SampleScale.floats(lanes &>> 24, times: 1 / 255) }
    }
  }

  private func unpackColour16(_ packed: PackedRow, alpha takesAlpha: Bool) {
    for index in 0..<vectors {
      let lanes = packed.vector(index, as: SIMD16<UInt32>.self)
      let (redGreen, blueAlpha) = (lanes.evenHalf, lanes.oddHalf)
      red[index] = SampleScale.floats(redGreen & 0xFFFF, times: 1 / 65535)
      green[index] = SampleScale.floats(redGreen &>> 16, times: 1 / 65535)
      blue[index] = SampleScale.floats(blueAlpha & 0xFFFF, times: 1 / 65535)
      if takesAlpha { alpha[index] = SampleScale.floats(blueAlpha &>> 16, times: 1 / 65535) }
    }
  }
}
