import Ledger
import Scheduling

extension LedgerDeferral {
  /// What the ledger gets to know of a deferred entry.
  /// - Parameters:
  ///   - now: What the clock says of which the entry's times are, in milliseconds.
  ///   - wallNow: What the system's clock says, in milliseconds since 1970.
  init(_ entry: DeferredEntry, now: Int, wallNow: Int) {
    let wait = max(0, entry.due - now)
    self.init(
      position: entry.position, attempts: entry.attempts, due: wallNow + wait, wait: wait,
      firstTried: wallNow - (now - entry.firstTried))
  }
}
