import Ledger

extension LedgerEntry {
  /// The preview that is about to be delivered after the result, or was, as the row and the result's provenance say.
  /// - Returns: nil when there is none.
  /// - Throws: For a row that cannot be read.
  func intendedPreview(run runID: String) throws -> Delivery? {
    guard let provenance = delivery?.origin.flatMap(Provenance.init(text:)), let preview = provenance.preview,
      let target = try ReportRow(parsing: row).preview
    else { return nil }
    return Delivery(
      staged: Staging.preview(position, run: runID), target: target, bytes: preview.bytes, sha256: preview.sha256,
      origin: Delivery.previewOrigin)
  }

  /// Takes the preview out of what is recorded: it could not be delivered.
  /// - Parameter row: The entry's, from now on without a preview.
  mutating func dropPreview(_ row: ReportRow) {
    preview = nil
    self.row = row.json.text
    guard var provenance = delivery?.origin.flatMap(Provenance.init(text:)) else { return }
    provenance.preview = nil
    delivery?.origin = provenance.text
  }
}

extension Delivery {
  /// The origin of a preview: without it, the file was there already.
  static let previewOrigin = "preview"
}
