/// A stage that changes the pixels of a row in place and looks at no other row.
package protocol RowFilter: RowStage {
  /// Changes a row.
  func apply(to row: PixelRow)
}

extension RowFilter {
  package func size(after size: PictureSize) -> PictureSize { size }
  package var window: RowWindow { .row }
  package func rows(from source: any RowSource) -> any RowSource { FilteredRows(source, self) }
}
