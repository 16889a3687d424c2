/// How one side of a picture is resampled: the part of it that is used, and the number of samples made of it.
struct ResamplingAxis: Equatable, Sendable {
  /// Input samples.
  let length: Int
  /// The start of the part, in input samples; not below 0.
  let start: Double
  /// The length of the part, in input samples; above 0. start + extent exceeds `length` by less than an output sample.
  let extent: Double
  /// Output samples.
  let count: Int

  /// Resamples a whole side to `count` samples.
  init(length: Int, count: Int) { self.init(length: length, start: 0, extent: Double(length), count: count) }

  /// Resamples a part of a side to `count` samples.
  init(length: Int, start: Double, extent: Double, count: Int) {
    (self.length, self.start, self.extent, self.count) = (length, start, extent, count)
  }

  /// Whether nothing changes.
  var isIdentity: Bool { length == count && start == 0 && extent == Double(length) }

  /// Input samples per output sample.
  var scale: Double { extent / Double(count) }

  /// The same resampling of a subsampled plane: each sample covers `divisor` samples of the side, the last perhaps fewer.
  func subsampled(by divisor: Int) -> ResamplingAxis {
    let samples = (count + divisor - 1) / divisor
    return ResamplingAxis(
      length: (length + divisor - 1) / divisor, start: start / Double(divisor), extent: scale * Double(samples),
      count: samples)
  }

  /// The same resampling of a side that was decoded at `eighths` eighths. Its last sample, the first when the side is
  /// reversed, may cover less than the others.
  func reduced(toEighths eighths: Int, isReversed: Bool) -> ResamplingAxis {
    let factor = Double(eighths) / 8
    let rest = PictureSize.reduced(length, toEighths: eighths)
    let missing = isReversed ? Double(rest) - Double(length) * factor : 0
    return ResamplingAxis(length: rest, start: start * factor + missing, extent: extent * factor, count: count)
  }
}

/// How both sides of a picture are resampled.
package struct ResamplingPlan: Equatable, Sendable {
  let columns: ResamplingAxis
  let rows: ResamplingAxis

  var size: PictureSize { PictureSize(width: columns.count, height: rows.count) }

  /// The same resampling of a plane whose samples, before and after, each cover several pixels.
  func subsampled(_ sampling: ChromaSampling) -> ResamplingPlan {
    ResamplingPlan(
      columns: columns.subsampled(by: sampling.horizontal), rows: rows.subsampled(by: sampling.vertical))
  }
}
