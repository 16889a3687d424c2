/// What becomes of the two sides of a picture.
struct ResamplingPlan: Equatable {
  let columns: ResamplingAxis
  let rows: ResamplingAxis

  /// The size of the result.
  var size: PictureSize { PictureSize(width: columns.count, height: rows.count) }

  /// The resampled rows of a source, whose size is that of the plan; the source itself when nothing changes.
  func rows(from source: any RowSource) -> any RowSource {
    guard !columns.isIdentity || !rows.isIdentity else { return source }
    var result: any RowSource = FilteredRows(source, Premultiply())
    // What reduces comes first: what lies between is then never larger than both pictures.
    if columns.scale >= 1 || rows.scale <= 1 {
      result = resampledHeight(of: resampledWidth(of: result))
    } else {
      result = resampledWidth(of: resampledHeight(of: result))
    }
    return FilteredRows(result, Unpremultiply())
  }

  private func resampledWidth(of source: any RowSource) -> any RowSource {
    columns.isIdentity ? source : WeightedColumns(source, ResamplingWeights(columns, .lanczos3))
  }

  private func resampledHeight(of source: any RowSource) -> any RowSource {
    guard !rows.isIdentity else { return source }
    let weights = ResamplingWeights(rows, .lanczos3)
    return rows.scale > 1 ? ScatteredRows(source, weights) : GatheredRows(source, weights)
  }
}
