import Ledger
import Scheduling
import System

extension JobPlanner {
  /// The entries that earlier processes have deferred. They are taken out of the index, whose order they are not part of.
  /// Without `--retry-for` all of them are due.
  func deferredEntries(of run: RunContext, _ index: JobIndex) throws -> [DeferredEntry] {
    var entries: [DeferredEntry] = []
    let (now, wallNow) = (Clock.monotonicMilliseconds, Clock.wallMilliseconds)
    let isOn = configuration.deferral.seconds > 0
    try ledger.eachDeferralPage(run: run.runID) { page in
      try index.fill { for deferral in page { try index.markEnded(deferral.position) } }
      entries += page.map { deferral in
        DeferredEntry(
          position: deferral.position, attempts: deferral.attempts, due: isOn ? deferral.due : wallNow,
          wait: deferral.wait, firstTried: deferral.firstTried, wallNow: wallNow, now: now)
      }
    }
    return entries
  }
}
