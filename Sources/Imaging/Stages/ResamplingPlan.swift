/// How both sides of a picture are resampled.
package struct ResamplingPlan: Equatable, Sendable {
  let columns: ResamplingAxis
  let rows: ResamplingAxis

  /// The size of the result.
  var size: PictureSize { PictureSize(width: columns.count, height: rows.count) }

  /// The same resampling of a plane whose samples, before and after, each cover several pixels.
  func subsampled(_ sampling: ChromaSampling) -> ResamplingPlan {
    ResamplingPlan(
      columns: columns.subsampled(by: sampling.horizontal), rows: rows.subsampled(by: sampling.vertical))
  }
}
