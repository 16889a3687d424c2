/// The rows of a source, each changed in place.
final class FilteredRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let filter: any RowFilter

  /// Rows of a source behind a filter.
  init(_ source: any RowSource, _ filter: any RowFilter) {
    (size, layout) = (source.size, source.layout)
    self.source = source
    self.filter = filter
  }

  func read(into row: PixelRow) throws(ImagingError) {
    try source.read(into: row)
    filter.apply(to: row)
  }
}
