import JobIndex
import Ledger
import Model
import Scheduling
import System

extension JobPlanner {
  /// The entries that earlier processes deferred, without those that have ended since or wait for others. They are
  /// removed from the order in the index, after those that wait for them. Without `--retry-for` all of them are due.
  func deferredEntries(of run: RunContext, _ index: JobIndex) throws -> [DeferredEntry] {
    var entries: [DeferredEntry] = []
    let (now, wallNow) = (Clock.monotonicMilliseconds, Clock.wallMilliseconds)
    let isOn = configuration.deferral.seconds > 0
    try ledger.eachDeferralPage(run: run.runID) { page in
      let left = try index.fill { try page.filter { try index.take($0.position, as: .held) } }
      entries += left.map { deferral in
        DeferredEntry(
          position: deferral.position, attempts: deferral.attempts, due: isOn ? deferral.due : wallNow,
          wait: deferral.wait, firstTried: deferral.firstTried, wallNow: wallNow, now: now)
      }
    }
    return entries
  }
}
