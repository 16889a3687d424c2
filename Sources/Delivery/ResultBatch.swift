import Dispatch
import Ledger
import Model
import System

/// The terminal records of a batch, and the results that earlier batches held.
struct ResultBatch {
  /// A record with its delivery.
  struct Item: Sendable {
    let record: PhotoRecord
    var delivery: EntryDelivery

    /// Why the files cannot be delivered now. The entry itself has not failed.
    var obstacle: (any Error)?

    /// Whether the intent is recorded. The files may then have their final names, and a file that is missing in staging
    /// has.
    var isIntended = false

    init(_ record: PhotoRecord) {
      self.record = record
      let row = record.row()
      delivery = EntryDelivery(entry: record.ledgerEntry(row), row: row, artifacts: record.artifacts)
    }

    var hasFiles: Bool { !delivery.artifacts.isEmpty }

    /// The paths of the folders of its files.
    var folders: [String] { delivery.subfolders.map(record.run.folder.file) }

    /// Removes its files from staging.
    func removeStaged() { record.run.staging.removeFiles(of: record.entry.position) }
  }

  private var records: [PhotoRecord]
  private let ledger: Ledger
  private var items: [Item]

  /// The open folders of results, by path: the first of them. Others are opened for each file.
  private(set) var opened: [ByteKey: OpenFolder] = [:]

  /// The most folders that are open at once, so that a batch with many of them does not fail for want of descriptors.
  private let mostOpened: Int

  /// The runs whose results fail when they cannot be delivered now.
  private let givenUp: Set<Int>

  /// - Parameters:
  ///   - held: Results that earlier batches could not deliver.
  ///   - givenUp: The runs whose results fail when they cannot be delivered now. Default: none.
  ///   - mostOpened: The most folders that are open at once. Default: an eighth of the limit of descriptors.
  init(
    _ records: [PhotoRecord], held: [Item] = [], ledger: Ledger, givenUp: Set<Int> = [],
    mostOpened: Int = DescriptorLimit.current / 8
  ) {
    self.mostOpened = mostOpened
    self.records = records
    self.ledger = ledger
    self.givenUp = givenUp
    items = held
    for index in items.indices { items[index].obstacle = nil }
  }

  var isEmpty: Bool { records.isEmpty && items.isEmpty }

  // MARK: Preparing

  /// Syncs the files of results. When that fails, the entry is started again, since a sync must not be repeated on the
  /// same file.
  /// - Returns: The records whose results are not synced. They are removed from the batch.
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
    let live = record.snapshot
    for artifact in live.artifacts {
      // It was staged before the first copy of it had its name.
      if artifact.kind == .original, live.original?.isDelivered == true {
        staging.remove(artifact.delivery.staged)
        continue
      }
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

  /// Creates the folders of results. A name that is taken fails the entries; an error of the machine holds them;
  /// derived files are dropped.
  /// - Returns: The folders to which names were added.
  mutating func createFolders() -> Set<ByteKey> {
    var changed: Set<ByteKey> = []
    var created: Set<ByteKey> = []
    var failures: [ByteKey: any Error] = [:]
    for index in items.indices where items[index].obstacle == nil {
      let folder = items[index].record.run.folder
      for artifact in items[index].delivery.artifacts {
        let subfolder = artifact.delivery.subfolder
        let path = ByteKey(folder.file(subfolder))
        if !created.contains(path), failures[path] == nil {
          var new: [String] = []
          do throws(SystemError) {
            let target = try folder.create(subfolder, changed: &new)
            if opened.count < mostOpened { opened[path] = target }
            created.insert(path)
          } catch {
            let isFinal = error.cause == .occupied || error.cause == .other
            failures[path] = isFinal ? EntryFailure(creating: path.text, error) : error
          }
          changed.formUnion(new.map(ByteKey.init))
        }
        guard let error = failures[path] else { continue }
        if artifact.kind.isDerived {
          items[index].delivery.drop(artifact.kind)
        } else if let failure = error as? EntryFailure
          ?? EntryFailure(delivering: error, givesUp: givesUp(index))
        {
          fail(index, failure)
        } else {
          items[index].obstacle = error
        }
        if items[index].obstacle != nil || !items[index].hasFiles { break }
      }
    }
    return changed
  }

  /// Whether a result that cannot be delivered now fails. One that has its name is delivered, whatever follows.
  private func givesUp(_ index: Int) -> Bool {
    let run = items[index].record.run
    return givenUp.contains(run.number) && items[index].delivery.isUnplaced(in: run.staging)
  }

  /// Fails an entry. It is not tried again.
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

  /// Holds all results, since nothing of the batch is recorded.
  mutating func hold(_ error: any Error) {
    for index in items.indices where items[index].hasFiles { items[index].obstacle = error }
  }

  /// Removes the results without recorded intents from the batch, and their files. They are made again.
  mutating func reject() -> [PhotoRecord] {
    let rejected = items.filter { !$0.isIntended }
    items.removeAll { !$0.isIntended }
    for item in rejected where item.hasFiles { item.removeStaged() }
    return rejected.map(\.record)
  }

  // MARK: Placing

  /// The changes to commit before files are renamed.
  var intents: [LedgerChange] {
    items.compactMap { item in
      item.hasFiles && item.obstacle == nil && !item.isIntended
        ? .intend(item.delivery.recorded, run: item.record.run.runID) : nil
    }
  }

  /// Moves results with recorded intents to their final names. An error fails the entry; one of the machine holds it.
  /// - Returns: The folders of the files.
  mutating func place() -> Set<ByteKey> {
    var folders: Set<ByteKey> = []
    var placed: Set<ByteKey> = []
    for index in items.indices where items[index].obstacle == nil && items[index].hasFiles {
      let (record, isAgain) = (items[index].record, items[index].isIntended)
      items[index].isIntended = true
      folders.formUnion(items[index].folders.map(ByteKey.init))
      let placement = Placement(folder: record.run.folder, staging: record.run.staging, ledger: ledger)
      do {
        let changed = try items[index].delivery.place(
          record.entry.name, by: placement, isAgain: isAgain, in: opened, placed: &placed)
        folders.formUnion(changed.map { ByteKey(record.run.folder.file($0)) })
      } catch {
        if let failure = EntryFailure(delivering: error, givesUp: givesUp(index)) {
          fail(index, failure)
        } else {
          items[index].obstacle = error
        }
      }
    }
    return folders
  }

  /// Holds results whose folder, or one above it, could not be synced.
  mutating func hold(beneath unsynced: [ByteKey: any Error]) {
    guard !unsynced.isEmpty else { return }
    for index in items.indices where items[index].obstacle == nil {
      items[index].obstacle =
        unsynced.first { unsynced in
          items[index].folders.contains { Folder.path($0, in: unsynced.key.text) != nil }
        }?.value
    }
  }

  /// Removes the held results from the batch and returns them.
  mutating func takeHeld() -> [Item] {
    let held = items.filter { $0.obstacle != nil }
    guard !held.isEmpty else { return [] }
    items.removeAll { $0.obstacle != nil }
    // They may wait for a long time, so their descriptors are closed.
    return held.map { item in
      var item = item
      item.record.forgetFiles()
      item.delivery.close()
      return item
    }
  }

  /// The changes to commit when files and folders are synced.
  var ends: [LedgerChange] {
    items.map { .finish($0.delivery.recorded, run: $0.record.run.runID, job: $0.record.run.job) }
  }

  /// The records, once `ends` are durable.
  var committed: [DeliveryQueue.Committed] {
    items.map { DeliveryQueue.Committed(record: $0.record, row: $0.delivery.row, text: $0.delivery.entry.row) }
  }

  /// Removes files that could not be delivered. Must be called after `ends` are durable.
  func removeUnplaced() { for item in items where item.delivery.hasLeftovers { item.removeStaged() } }
}

extension PhotoRecord {
  fileprivate var waitsForMachine: Bool { snapshot.failure?.isOfMachine == true }
}
