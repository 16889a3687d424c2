import Glibc
import System
import Testing
import TestSupport

@testable import Delivery
@testable import Model

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
    #expect(batch.place() == [ByteKey(deliveries.root.file("out/job-1/images"))])
    batch.hold(beneath: [ByteKey(deliveries.root.file(unsynced)): SystemError("fsync", unsynced, code: EIO)])
    #expect(batch.takeHeld().count == (isHeld ? 1 : 0))
    #expect(batch.ends.count == (isHeld ? 0 : 1))
  }

  @Test(
    arguments: [
      (EACCES, true), (EPERM, true), (EROFS, false), (ENOSPC, false), (EDQUOT, false), (EIO, false), (EMFILE, false),
      (ENOMEM, false),
    ])
  func `a result waits for the machine, and is given up only where an operator is needed`(
    number: Int32, isGivenUp: Bool
  ) {
    let error = SystemError("renameat2", "images/a.jpg", code: number)
    #expect(EntryFailure(delivering: error, givesUp: false) == nil)
    #expect((EntryFailure(delivering: error, givesUp: true) != nil) == isGivenUp)
  }

  @Test(arguments: [0, 2, 100])
  func `a batch with many folders keeps few of them open, and delivers all the same`(mostOpened: Int) throws {
    let deliveries = try Deliveries()
    let records = try (1...5).map { try deliveries.filtered(0, of: deliveries.run($0)) }
    var batch = ResultBatch(records, ledger: deliveries.ledger, mostOpened: mostOpened)
    #expect(batch.syncFiles().isEmpty)
    #expect(batch.createFolders().count == 5)
    try deliveries.ledger.commit(batch.intents)
    #expect(batch.opened.count == min(5, mostOpened))
    #expect(batch.place().count == 5)
    #expect(batch.takeHeld().isEmpty && batch.ends.count == 5)
    for run in 1...5 { #expect(deliveries.text("job-\(run)/images/entry 0.jpg") == "picture") }
  }

  @Test func `a result that can never have its name fails at once`() {
    let failure = EntryFailure(delivering: SystemError("renameat2", "images/a.jpg", code: EXDEV), givesUp: false)
    #expect(failure?.code == .io && failure?.disposition == .final)
  }
}
