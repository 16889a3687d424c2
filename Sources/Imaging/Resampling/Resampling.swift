/// The stage that resamples by a given plan.
struct Resampling: RowStage {
  let plan: ResamplingPlan

  let window = RowWindow.rows(heldRows)
  var resampling: (@Sendable (PictureSize) -> ResamplingPlan)? { { [plan] _ in plan } }

  /// Rows for a kernel of six, one because of rounding and the next input row; and those that resampling columns holds.
  static let heldRows = ScatteredRows.maxSums + 1 + ResampledColumns.heldRows

  func size(after size: PictureSize) -> PictureSize { plan.size }
  func rows(from source: any RowSource) -> any RowSource { plan.rows(from: source) }
}

extension ResamplingPlan {
  /// The resampled rows of a source that has the plan's input size; the source itself when nothing changes.
  func rows(from source: any RowSource) -> any RowSource { rows(from: [source])[0] }

  /// The resampled rows of several sources, which share their weights.
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
    // The side that is reduced comes first: the intermediate picture is then never larger than both pictures.
    if columns.scale >= 1 || rows.scale <= 1 {
      result = resampledHeight(of: resampledWidth(of: result, columnWeights), rowWeights)
    } else {
      result = resampledWidth(of: resampledHeight(of: result, rowWeights), columnWeights)
    }
    return FilteredRows(result, Unpremultiply())
  }

  private func resampledWidth(of source: any RowSource, _ weights: ResamplingWeights?) -> any RowSource {
    weights.map { ResampledColumns(source, $0) } ?? source
  }

  private func resampledHeight(of source: any RowSource, _ weights: ResamplingWeights?) -> any RowSource {
    guard let weights else { return source }
    return rows.scale > 1 ? ScatteredRows(source, weights) : GatheredRows(source, weights)
  }
}
