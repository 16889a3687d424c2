import Glibc
import System
import Testing
import TestSupport

@testable import Delivery

@Suite struct ResultBatchTests {
  @Test(arguments: [
    ("out/job-1/images", true), ("out/job-1", true), ("out", true), ("out/job-1/images/more", false),
    ("out/job-1/image", false), ("out/job", false), ("out/job-2", false),
  ])
  func `a result is held while its folder, or one above it, is not on disk, and by no other`(
    unsynced: String, isHeld: Bool
  ) throws {
    let deliveries = try Deliveries()
    var batch = ResultBatch([try deliveries.filtered(0, of: deliveries.run(1))], ledger: deliveries.ledger)
    #expect(batch.syncFiles().isEmpty)
    _ = batch.createFolders()
    try deliveries.ledger.commit(batch.intents)
    #expect(batch.place() == [deliveries.root.file("out/job-1/images")])
    batch.hold(beneath: [deliveries.root.file(unsynced): SystemError("fsync", unsynced, code: EIO)])
    #expect(batch.takeHeld().count == (isHeld ? 1 : 0))
    #expect(batch.ends.count == (isHeld ? 0 : 1))
  }
}
