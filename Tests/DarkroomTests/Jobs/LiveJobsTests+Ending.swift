import Testing
import TestSupport

@testable import Darkroom
@testable import Delivery
@testable import Model

extension LiveJobsTests {
  @Test(.disabled(if: ImmutableFolder.obstacle != nil, Comment(rawValue: ImmutableFolder.obstacle ?? "")))
  func `the end does not wait for a ledger that cannot be written`() throws {
    try plan()
    let immutable = try ImmutableFolder(deliveries.state.ledger)
    let cause = PauseCause.disk(reason: "full")
    _ = jobs.suspension.pauses.update([cause], at: 1)
    jobs.record(PauseTracker.Change(began: [cause]), before: [])
    jobs.closePauses(within: 0.1)
    immutable.release()
  }
}
