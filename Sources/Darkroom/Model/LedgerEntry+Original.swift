import Ledger

extension LedgerEntry {
  /// The source that is about to be delivered before the result, or was, as the row says: what is in staging is named after
  /// the entry.
  /// - Returns: nil when none is kept, or it is all that is delivered.
  /// - Throws: For a row that cannot be read.
  func intendedOriginal(run runID: String) throws -> Delivery? {
    guard let source = try ReportRow(parsing: row).source, let file = source.file, file != delivery?.target else {
      return nil
    }
    return Delivery(
      staged: Staging.original(position, run: runID), target: file, bytes: source.bytes, sha256: source.sha256,
      origin: Delivery.originalOrigin)
  }
}

extension Delivery {
  /// The origin of a source that is kept: without it, the file was there already, or that is not known.
  static let originalOrigin = "original"
}
