import Foundation
import Model

/// Suspends and cancels operations.
extension PendingOperations {
  /// Suspends both queues. Running operations finish, none starts.
  package func suspendAll() {
    room.window.restart()
    isSuspended = true
    downloadQueue.isSuspended = true
    filtrationQueue.isSuspended = true
    setOneByOne(false)
    queueUnchecked()
  }

  package func resumeAll() {
    // Measurements from before the pause are dropped.
    if isSuspended { room.window.restart() }
    isSuspended = false
    setOneByOne(false)
    downloadQueue.isSuspended = false
    filtrationQueue.isSuspended = false
  }

  /// Starts a single operation in the suspended queues when none is running: a filtration, if one waits. Must be called
  /// repeatedly; `suspendAll` ends this mode.
  package func continueOneByOne() {
    setOneByOne(true)
    (downloadQueue.isSuspended, filtrationQueue.isSuspended) = (true, true)
    queueUnchecked()
    let isIdle = isIdle
    let filters = inProgress.values.contains { !$0.isDownloading }
    downloadQueue.isSuspended = !isIdle || filters
    filtrationQueue.isSuspended = !isIdle || !filters
  }

  private func setOneByOne(_ isOn: Bool) {
    guard isOn != room.isOneByOne else { return }
    room.isOneByOne = isOn
    updateLimits()
  }

  /// Cancels the entries that have not begun and, in suspended queues, those that wait for their filtration.
  package func cancelWaiting() {
    for chain in inProgress.values where chain.operations?.isExecuting != true {
      if isSuspended || chain.operations?.download.isFinished != true { chain.record.cancel() }
    }
  }

  /// Cancels entries of a run that have not begun.
  /// - Parameter isIncluded: Selects entries by position.
  /// - Returns: The positions of the selected entries that have begun, including those that wait for their filtration.
  package func keepBegun(run: Int, where isIncluded: (Int) -> Bool) -> Set<Int> {
    let kept = inProgress.filter { id, chain in
      id.run == run && isIncluded(id.position) && !chain.record.cancelUnbegun()
    }
    return Set(kept.map(\.key.position))
  }

  /// Cancels entries of a run, whether or not they are running.
  /// - Parameter isIncluded: Selects entries by position.
  package func cancel(run: Int, where isIncluded: (Int) -> Bool) {
    cancel(inProgress.filter { $0.key.run == run && isIncluded($0.key.position) }.map { $0.value })
  }

  package func isInProgress(run: Int) -> Bool { inProgress.keys.contains { $0.run == run } }

  /// Removes the failed and cancelled entries of a run that wait for an operation to begin. Such an operation does
  /// nothing, and in a suspended queue it does not begin.
  package func takeIdle(run: Int) -> [PhotoRecord] {
    let idle = inProgress.values.filter { chain in
      guard chain.record.id.run == run else { return false }
      switch chain.record.state {
      case .new, .downloaded, .filtered: return false
      case .failed, .cancelled: return chain.waits
      }
    }
    for chain in idle { remove(chain.record) }
    return idle.map(\.record)
  }

  /// Waits until all completed transfers of URLs have been handled. Those of files are when the engine is shut down.
  package func waitForEndings() { downloadEndings.sync {} }

  /// Cancels all entries, whether or not they are running.
  package func cancelAll() { cancel(Array(inProgress.values)) }

  private func cancel(_ chains: [Chain]) {
    // All records are cancelled first, so that no operation starts in a slot that becomes free.
    for chain in chains { chain.record.cancel() }
    for operations in chains.compactMap(\.operations) {
      operations.download.cancel()
      // A filtration that has not begun checks its record. Cancelling it would finish it before its download.
      if operations.filtration.isExecuting { operations.filtration.cancel() }
    }
  }
}
