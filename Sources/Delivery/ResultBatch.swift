import Database
import Dispatch
import Glibc
import Ledger
import Model
import System

/// The terminal records of a batch, on their way to the outbox, and those that were held by an earlier one.
struct ResultBatch {
  /// A record with what is delivered of it.
  struct Item: Sendable {
    let record: PhotoRecord
    var delivery: EntryDelivery

    /// Why the files cannot be placed now, which is not their entry's fault.
    var obstacle: (any Error)?

    /// Whether the ledger has its intent: its files may have their final names already, and no file in staging means that it
    /// had.
    var isIntended = false

    init(_ record: PhotoRecord) {
      self.record = record
      let row = record.row()
      delivery = EntryDelivery(entry: record.ledgerEntry(row), row: row, artifacts: record.artifacts)
    }

    var hasFiles: Bool { !delivery.artifacts.isEmpty }

    /// The paths of the folders that its files go to.
    var folders: [String] { delivery.subfolders.map(record.run.folder.file) }

    /// Removes what it has in staging.
    func removeStaged() { record.run.staging.removeFiles(of: record.entry.position) }
  }

  private var records: [PhotoRecord]
  private let ledger: Ledger
  private var items: [Item]

  /// The folders to which results go, by their paths.
  private var opened: [String: OpenFolder] = [:]

  /// - Parameter held: What earlier batches could not place.
  init(_ records: [PhotoRecord], held: [Item] = [], ledger: Ledger) {
    self.records = records
    self.ledger = ledger
    items = held
    for index in items.indices { items[index].obstacle = nil }
  }

  var isEmpty: Bool { records.isEmpty && items.isEmpty }

  // MARK: Preparing

  /// Brings the results' bytes to the disk. When that fails the entry is started again: a sync is not repeated on the same
  /// file.
  /// - Returns: The records whose results are not on disk: they are no longer part of the batch.
  mutating func syncFiles() -> [PhotoRecord] {
    let records = records
    DispatchQueue.concurrentPerform(iterations: records.count) { Self.sync(records[$0]) }
    let unfit = records.filter(\.waitsForMachine)
    items += (unfit.isEmpty ? records : records.filter { !$0.waitsForMachine }).map(Item.init)
    self.records = []
    return unfit
  }

  private static func sync(_ record: PhotoRecord) {
    let staging = record.run.staging
    for artifact in record.snapshot.artifacts {
      do {
        try artifact.file?.sync()
      } catch {
        if artifact.kind.isDerived {
          staging.remove(artifact.delivery.staged)
          record.drop(artifact.kind)
        } else {
          staging.removeFiles(of: record.entry.position)
          return record.fail(EntryFailure(error))
        }
      }
    }
  }

  /// Creates the folders that results go to. A name that is taken fails the entries, what the machine is to blame for holds
  /// them; what is made of a result is dropped.
  /// - Returns: The folders that got a new name in them.
  mutating func createFolders() -> Set<String> {
    var changed: Set<String> = []
    var failures: [String: any Error] = [:]
    for index in items.indices where items[index].obstacle == nil {
      let folder = items[index].record.run.folder
      for artifact in items[index].delivery.artifacts {
        let subfolder = artifact.delivery.subfolder
        let path = folder.file(subfolder)
        if opened[path] == nil, failures[path] == nil {
          var new: [String] = []
          do throws(SystemError) {
            opened[path] = try folder.create(subfolder, changed: &new)
          } catch {
            let isTaken = error.cause == .occupied || error.cause == .other
            failures[path] = isTaken ? EntryFailure(creating: path, error) : error
          }
          changed.formUnion(new)
        }
        guard let error = failures[path] else { continue }
        if artifact.kind.isDerived {
          items[index].delivery.drop(artifact.kind)
        } else if let conflict = error as? EntryFailure {
          fail(index, conflict)
        } else {
          items[index].obstacle = error
        }
        if items[index].obstacle != nil || !items[index].hasFiles { break }
      }
    }
    return changed
  }

  /// Fails an entry for good.
  private mutating func fail(_ index: Int, _ failure: EntryFailure) {
    let record = items[index].record
    var failure = failure
    failure.disposition = .final
    record.fail(failure)
    let row = record.row()
    items[index].delivery.fail(record.ledgerEntry(row), row)
    if !items[index].isIntended { items[index].removeStaged() }
    items[index].isIntended = false
  }

  /// Holds all results: nothing of the batch is recorded.
  mutating func hold(_ error: any Error) {
    for index in items.indices where items[index].hasFiles { items[index].obstacle = error }
  }

  /// Takes out the results of which no intent is recorded, and removes their files: they are made again.
  mutating func reject() -> [PhotoRecord] {
    let rejected = items.filter { !$0.isIntended }
    items.removeAll { !$0.isIntended }
    for item in rejected where item.hasFiles { item.removeStaged() }
    return rejected.map(\.record)
  }

  // MARK: Placing

  /// What is recorded before files are renamed.
  var intents: [LedgerChange] {
    items.compactMap { item in
      item.hasFiles && item.obstacle == nil && !item.isIntended
        ? .intend(item.delivery.recorded, run: item.record.run.runID) : nil
    }
  }

  /// Gives the results, whose intents are recorded, their final names. What cannot be placed fails its entry, or waits when
  /// the machine is to blame.
  /// - Returns: The folders in which they are now.
  mutating func place() -> Set<String> {
    var folders: Set<String> = []
    var placed: Set<String> = []
    for index in items.indices where items[index].obstacle == nil && items[index].hasFiles {
      let (record, isAgain) = (items[index].record, items[index].isIntended)
      items[index].isIntended = true
      folders.formUnion(items[index].folders)
      let placement = Placement(folder: record.run.folder, staging: record.run.staging, ledger: ledger)
      do {
        let changed = try items[index].delivery.place(
          record.entry.name, by: placement, isAgain: isAgain, in: opened, placed: &placed)
        folders.formUnion(changed.map(record.run.folder.file))
      } catch let error where error.isOfMachineForOwnFile || error.isDamageOfLedger {
        items[index].obstacle = error
      } catch {
        fail(index, EntryFailure(error, otherwise: .io))
      }
    }
    return folders
  }

  /// Holds results whose folder, or one above it, is not on disk.
  mutating func hold(beneath unsynced: [String: any Error]) {
    guard !unsynced.isEmpty else { return }
    for index in items.indices where items[index].obstacle == nil {
      items[index].obstacle =
        unsynced.first { unsynced in
          items[index].folders.contains { $0 == unsynced.key || $0.hasPrefix(unsynced.key + "/") }
        }?.value
    }
  }

  /// Takes out what cannot be placed now.
  mutating func takeHeld() -> [Item] {
    let held = items.filter { $0.obstacle != nil }
    guard !held.isEmpty else { return [] }
    items.removeAll { $0.obstacle != nil }
    // It may take long: no descriptor is kept meanwhile.
    return held.map { item in
      var item = item
      item.record.forgetFiles()
      item.delivery.close()
      return item
    }
  }

  /// What is recorded when files and folders are on disk.
  var ends: [LedgerChange] {
    items.map { .finish($0.delivery.recorded, run: $0.record.run.runID, job: $0.record.run.job) }
  }

  /// The records, once `ends` are durable.
  var committed: [DeliveryQueue.Committed] {
    items.map { DeliveryQueue.Committed(record: $0.record, row: $0.delivery.row, text: $0.delivery.entry.row) }
  }

  /// Removes what could not be placed. Not before `ends` are durable.
  func removeUnplaced() { for item in items where item.delivery.hasLeftovers { item.removeStaged() } }
}

extension PhotoRecord {
  fileprivate var waitsForMachine: Bool { snapshot.failure?.isOfMachine == true }
}
