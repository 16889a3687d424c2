import Transfer

/// How many operations a run has, of all.
struct OperationLoad: Equatable, Sendable {
  /// Entries whose download is not known to have ended.
  var downloads = 0

  /// Of these, those that the rate of all downloads holds back now, and those that the rate of their host does.
  var heldByTotalRate = 0
  var heldByHostRate = 0

  /// Entries that are downloaded and not known to have ended.
  var filtrations = 0
}

extension PendingOperations {
  /// How many operations there are, and how many of each run. What has ended without the loop having been told counts, so it
  /// is what was so while the loop waited. At most as many as `AdmissionWindow.holders` are looked at.
  func loads() -> (all: OperationLoad, ofRuns: [Int: OperationLoad]) {
    var (all, ofRuns) = (OperationLoad(), [Int: OperationLoad]())
    for (id, chain) in inProgress {
      chain.count(in: &all)
      chain.count(in: &ofRuns[id.run, default: OperationLoad()])
    }
    return (all, ofRuns)
  }
}

extension PendingOperations.Chain {
  fileprivate func count(in load: inout OperationLoad) {
    guard isDownloading else {
      load.filtrations += 1
      return
    }
    load.downloads += 1
    switch download.progress.rateHold {
    case .none: break
    case .total: load.heldByTotalRate += 1
    case .host: load.heldByHostRate += 1
    }
  }
}
