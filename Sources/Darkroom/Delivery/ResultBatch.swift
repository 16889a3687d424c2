import Database
import Dispatch
import Glibc
import Ledger
import System

/// The terminal records of a batch, on their way to the outbox.
struct ResultBatch {
  private struct Item {
    let record: PhotoRecord
    var row: ReportRow
    var entry: LedgerEntry

    /// A staged file that could not be placed. It is removed when the ledger knows.
    var unplaced: String?

    init(_ record: PhotoRecord) {
      self.record = record
      row = record.row()
      entry = record.ledgerEntry(row)
    }
  }

  private(set) var records: [PhotoRecord]
  private let ledger: Ledger
  private var items: [Item] = []

  /// The folders to which results go, by their paths.
  private var opened: [String: OpenFolder] = [:]

  init(_ records: [PhotoRecord], ledger: Ledger) {
    self.records = records
    self.ledger = ledger
  }

  var isEmpty: Bool { records.isEmpty }

  /// Brings the results' bytes to the disk, and creates the folders that they go to.
  /// - Returns: The folders that got a new name in them, and the records for whose results there was no room: they are no
  ///   longer part of the batch.
  mutating func prepare() -> (folders: Set<String>, unfit: [PhotoRecord]) {
    let records = records
    DispatchQueue.concurrentPerform(iterations: records.count) { Self.sync(records[$0]) }
    var changed: Set<String> = []
    var failures: [String: EntryFailure] = [:]
    for record in records {
      guard let result = record.snapshot.result else { continue }
      let folder = Folder.parent(of: record.run.folder.file(record.target(of: result)))
      if opened[folder] == nil, failures[folder] == nil {
        do throws(SystemError) {
          let target = record.target(of: result)
          let (made, above) = try record.run.folder.create(target.contains("/") ? Folder.parent(of: target) : "")
          opened[folder] = made
          changed.formUnion(above)
        } catch {
          failures[folder] = EntryFailure(creating: folder, error)
        }
      }
      guard let failure = failures[folder] else { continue }
      record.fail(failure)
      record.run.staging.remove(result.staged)
    }
    let unfit = records.filter(\.waitsForSpace)
    if !unfit.isEmpty { self.records.removeAll(where: \.waitsForSpace) }
    items = self.records.map(Item.init)
    return (changed, unfit)
  }

  /// When a sync fails the entry does: it is not tried again on the same file.
  private static func sync(_ record: PhotoRecord) {
    guard let result = record.snapshot.result else { return }
    do {
      try result.file.sync()
    } catch {
      record.fail(EntryFailure(error))
      record.run.staging.remove(result.staged)
    }
  }

  /// What is recorded before files are renamed.
  var intents: [LedgerChange] {
    items.compactMap { $0.entry.delivery == nil ? nil : .intend($0.entry, run: $0.record.run.runID) }
  }

  /// Gives the results their final names. What cannot be placed fails its entry.
  /// - Returns: The folders in which they are now.
  mutating func place() -> Set<String> {
    var folders: Set<String> = []
    for index in items.indices {
      let record = items[index].record
      guard let delivery = items[index].entry.delivery else { continue }
      do {
        let run = record.run
        let folder = Folder.parent(of: run.folder.file(delivery.target))
        try Placement(folder: run.folder, staging: run.staging, ledger: ledger).place(delivery, in: opened[folder])
        items[index].entry.delivery?.identity = record.snapshot.result?.identity
        folders.insert(folder)
      } catch {
        var failure = EntryFailure(error, otherwise: .io)
        // The intent is in the ledger.
        failure.disposition = .final
        record.fail(failure)
        items[index] = Item(record)
        items[index].unplaced = delivery.staged
      }
    }
    return folders
  }

  /// What is recorded when files and folders are on disk.
  var ends: [LedgerChange] {
    items.map { .finish($0.entry, run: $0.record.run.runID, job: $0.record.run.job) }
  }

  /// The records, once `ends` are durable.
  var committed: [DeliveryQueue.Committed] {
    items.map { DeliveryQueue.Committed(record: $0.record, row: $0.row, text: $0.entry.row) }
  }

  /// Removes what could not be placed. Not before `ends` are durable: an intent whose staged file is gone means that the
  /// file was delivered.
  func removeUnplaced() {
    for item in items { if let file = item.unplaced { item.record.run.staging.remove(file) } }
  }

  /// Removes everything that was staged: no intent was recorded.
  func removeStaged() {
    for item in items { if let delivery = item.entry.delivery { item.record.run.staging.remove(delivery.staged) } }
  }
}

extension PhotoRecord {
  fileprivate var waitsForSpace: Bool { snapshot.failure?.disposition == .waitForSpace }
}
