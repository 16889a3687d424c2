/// A stage that changes the pixels of a row in place and needs no other row.
package protocol RowFilter: RowStage {
  /// Changes a row.
  func apply(to row: PixelRow)
}

extension RowFilter {
  package func size(after size: PictureSize) -> PictureSize { size }
  package var window: RowWindow { .row }
  package func rows(from source: any RowSource) -> any RowSource { FilteredRows(source, self) }
}

/// The rows of a source, each changed in place by a filter.
final class FilteredRows: RowSource {
  let size: PictureSize
  let layout: PixelLayout
  private let source: any RowSource
  private let filter: any RowFilter

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
