/// What becomes of one side of a picture: the part of it that is taken, and how many samples that becomes.
struct ResamplingAxis: Equatable {
  /// Samples that there are.
  let length: Int
  /// Where the part begins, in samples; not below 0.
  let start: Double
  /// How long the part is, in samples; above 0. start + extent is above the length by less than a new sample.
  let extent: Double
  /// Samples that are made.
  let count: Int

  /// All of a side becomes so many samples.
  init(length: Int, count: Int) { self.init(length: length, start: 0, extent: Double(length), count: count) }

  /// A part becomes so many samples.
  init(length: Int, start: Double, extent: Double, count: Int) {
    (self.length, self.start, self.extent, self.count) = (length, start, extent, count)
  }

  /// Whether nothing changes.
  var isIdentity: Bool { length == count && start == 0 && extent == Double(length) }

  /// Samples of the part for each that is made.
  var scale: Double { extent / Double(count) }

  /// The same for samples that stand for several each, the last one perhaps for fewer.
  func shared(by divisor: Int) -> ResamplingAxis {
    let shared = (count + divisor - 1) / divisor
    return ResamplingAxis(
      length: (length + divisor - 1) / divisor, start: start / Double(divisor), extent: scale * Double(shared),
      count: shared)
  }

  /// The same for a side of which only so many eighths are there, the last sample of them perhaps not a whole one. In a
  /// side that was reversed that is the first.
  func reduced(toEighths eighths: Int, isReversed: Bool) -> ResamplingAxis {
    let factor = Double(eighths) / 8
    let rest = PictureSize.reduced(length, toEighths: eighths)
    let missing = isReversed ? Double(rest) - Double(length) * factor : 0
    return ResamplingAxis(length: rest, start: start * factor + missing, extent: extent * factor, count: count)
  }
}
