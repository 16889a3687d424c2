/// What becomes of the two sides of a picture.
struct ResamplingPlan: Equatable {
  let columns: ResamplingAxis
  let rows: ResamplingAxis

  /// The size of the result.
  var size: PictureSize { PictureSize(width: columns.count, height: rows.count) }

  /// The same for a plane each of whose samples, old or new, stands for several columns and rows of the picture.
  func shared(_ sharing: ChromaSampling) -> ResamplingPlan {
    ResamplingPlan(columns: columns.shared(by: sharing.horizontal), rows: rows.shared(by: sharing.vertical))
  }

  /// The resampled rows of a source, whose size is that of the plan; the source itself when nothing changes.
  func rows(from source: any RowSource) -> any RowSource { rows(from: [source])[0] }

  /// The same for several sources.
  func rows(from sources: [any RowSource]) -> [any RowSource] {
    guard !columns.isIdentity || !rows.isIdentity else { return sources }
    let columnWeights = columns.isIdentity ? nil : ResamplingWeights(columns, .lanczos3)
    let rowWeights = rows.isIdentity ? nil : ResamplingWeights(rows, .lanczos3)
    return sources.map { rows(from: $0, columnWeights, rowWeights) }
  }

  private func rows(
    from source: any RowSource, _ columnWeights: ResamplingWeights?, _ rowWeights: ResamplingWeights?
  ) -> any RowSource {
    var result: any RowSource = FilteredRows(source, Premultiply())
    // What reduces comes first: what lies between is then never larger than both pictures.
    if columns.scale >= 1 || rows.scale <= 1 {
      result = resampledHeight(of: resampledWidth(of: result, columnWeights), rowWeights)
    } else {
      result = resampledWidth(of: resampledHeight(of: result, rowWeights), columnWeights)
    }
    return FilteredRows(result, Unpremultiply())
  }

  private func resampledWidth(of source: any RowSource, _ weights: ResamplingWeights?) -> any RowSource {
    weights.map { WeightedColumns(source, $0) } ?? source
  }

  private func resampledHeight(of source: any RowSource, _ weights: ResamplingWeights?) -> any RowSource {
    guard let weights else { return source }
    return rows.scale > 1 ? ScatteredRows(source, weights) : GatheredRows(source, weights)
  }
}
