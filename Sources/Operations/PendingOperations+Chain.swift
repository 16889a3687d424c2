import Foundation
import Model
import Scheduling
import System

extension PendingOperations {
  /// The two operations of one entry.
  package struct Operations {
    package let download: ImageDownloader
    /// An `ImageFiltration`, or a `StoreList` for a list of entries.
    package let filtration: Operation

    var isExecuting: Bool { download.isExecuting || filtration.isExecuting }
  }

  /// What the operations of an entry are made from.
  struct Plan {
    let cache: DownloadCache?
    let earlier: EarlierResults
    let reportsBeginning: Bool
    let reportsAnswer: Bool
    let state: StateFolder?
  }

  /// An entry in progress. A reference, since a copy would retain all that it holds.
  package final class Chain {
    package let record: PhotoRecord
    let plan: Plan
    /// nil while it is found out whether any are needed.
    package internal(set) var operations: Operations?
    package internal(set) var isDownloading = true
    /// Bytes that were downloaded and not yet filtered.
    var bytes = 0
    var pace = DownloadPace(began: 0)
    /// Whether the download is too slow, or waits for one that is.
    var isSlow = false

    init(record: PhotoRecord, plan: Plan) { (self.record, self.plan) = (record, plan) }

    /// Whether an operation has not begun and the other is not running. A chain that has ended does not wait.
    var waits: Bool {
      guard let operations else { return true }
      let filtration = operations.filtration
      if operations.download.isFinished { return !isDownloading && !filtration.isExecuting && !filtration.isFinished }
      return !operations.download.isExecuting
    }
  }
}
