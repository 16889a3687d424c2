import Imaging
import Model

/// The decoders for filtrations.
package struct DecodingAccess: Sendable {
  package let pool: DecodingPool

  /// Records which entries are being filtered; nil for no records.
  package var journal: FiltrationJournal?

  package init(pool: DecodingPool, journal: FiltrationJournal? = nil) {
    self.pool = pool
    self.journal = journal
  }

  /// Reads a picture, while the journal records that the entry is being filtered.
  func recorded<Result>(
    _ record: PhotoRecord, isCancelled: () -> Bool, _ read: () throws -> Result
  ) throws -> Result {
    let slot = try journal?.enter(
      FiltrationJournal.Key(runID: record.run.runID, position: record.entry.position), isCancelled: isCancelled)
    var hasEnded = true
    defer { if let slot { journal?.leave(slot, hasEnded: hasEnded) } }
    do {
      return try read()
    } catch let error as ImagingError where error.code == .cancelled {
      hasEnded = false
      throw error
    }
  }
}
