import Database
import Dispatch
import Glibc
import Ledger
import System

/// The terminal records of a batch, on their way to the outbox, and those that were held by an earlier one.
struct ResultBatch {
  /// A record with its row.
  struct Item: Sendable {
    let record: PhotoRecord
    var row: ReportRow
    var entry: LedgerEntry

    /// The source that is delivered before the result; nil for most.
    var original: Delivery?

    /// What is delivered after the result; nil for most.
    var preview: Delivery?

    /// Staged files that could not be placed. They are removed when the ledger knows.
    var unplaced: [String] = []

    /// Why the file cannot be placed now, which is not its entry's fault; nil for most.
    var obstacle: (any Error)?

    /// Whether the ledger has its intent: its file may have its final name already, and no file in staging means that it
    /// had.
    var isIntended = false

    init(_ record: PhotoRecord) {
      self.record = record
      row = record.row()
      entry = record.ledgerEntry(row)
      original = record.snapshot.result == nil ? nil : record.originalDelivery
      preview = record.previewDelivery
    }

    /// Its files, in the order in which they are placed.
    var deliveries: [Delivery] { [original, entry.delivery].compactMap { $0 } }

    /// All its files in staging.
    var staged: [String] { [original, entry.delivery, preview].compactMap { $0?.staged } }

    /// Gives the preview up. Its staged file is removed when the ledger knows, if it has the intent.
    mutating func dropPreview() {
      guard let staged = preview?.staged else { return }
      preview = nil
      row.preview = nil
      entry.dropPreview(row)
      if isIntended { unplaced.append(staged) } else { record.run.staging.remove(staged) }
    }

    /// The folder that a file goes to.
    func folder(of delivery: Delivery) -> String { Folder.parent(of: record.run.folder.file(delivery.target)) }

    /// The folders that its files go to.
    var folders: [String] { [original, entry.delivery, preview].compactMap { $0.map(folder) } }
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
    let live = record.snapshot
    do {
      try live.original?.file?.sync()
      try live.result?.file.sync()
      do {
        try live.result?.preview?.file.sync()
      } catch {
        if let staged = record.previewDelivery?.staged { record.run.staging.remove(staged) }
        record.dropPreview()
      }
    } catch {
      for staged in [record.originalDelivery?.staged, live.result?.staged, record.previewDelivery?.staged] {
        if let staged { record.run.staging.remove(staged) }
      }
      record.fail(EntryFailure(error))
    }
  }

  /// Creates the folders that results go to. A name that is taken fails the entries, what the machine is to blame for holds
  /// them.
  /// - Returns: The folders that got a new name in them.
  mutating func createFolders() -> Set<String> {
    var changed: Set<String> = []
    var failures: [String: any Error] = [:]
    for index in items.indices where items[index].obstacle == nil {
      for delivery in items[index].deliveries {
        let folder = items[index].folder(of: delivery)
        if opened[folder] == nil, failures[folder] == nil {
          var new: [String] = []
          do throws(SystemError) {
            opened[folder] = try items[index].record.run.folder.create(delivery.subfolder, changed: &new)
          } catch {
            let isTaken = error.cause == .occupied || error.cause == .other
            failures[folder] = isTaken ? EntryFailure(creating: folder, error) : error
          }
          changed.formUnion(new)
        }
        guard let error = failures[folder] else { continue }
        if let conflict = error as? EntryFailure { fail(index, conflict) } else { items[index].obstacle = error }
        break
      }
      createPreviewFolder(of: index, &changed)
    }
    return changed
  }

  /// Creates the folder of a preview, which is given up where that cannot be.
  private mutating func createPreviewFolder(of index: Int, _ changed: inout Set<String>) {
    guard let preview = items[index].preview, items[index].obstacle == nil else { return }
    let folder = items[index].folder(of: preview)
    guard opened[folder] == nil else { return }
    var new: [String] = []
    do throws(SystemError) {
      opened[folder] = try items[index].record.run.folder.create(preview.subfolder, changed: &new)
    } catch {
      items[index].dropPreview()
    }
    changed.formUnion(new)
  }

  /// Fails an entry for good. Its staged file is removed when the ledger knows, if it has the intent.
  private mutating func fail(_ index: Int, _ failure: EntryFailure) {
    let (record, item) = (items[index].record, items[index])
    // What has its final name by now stays there, and is the job's.
    let placed = item.entry.original?.staged
    let staged = item.staged.filter { $0 != placed }
    var failure = failure
    failure.disposition = .final
    record.fail(failure)
    items[index] = Item(record)
    items[index].entry.original = item.entry.original
    if item.isIntended {
      items[index].unplaced = item.unplaced + staged
    } else {
      for file in staged { record.run.staging.remove(file) }
    }
  }

  /// Has all results wait: nothing of the batch is recorded.
  mutating func hold(_ error: any Error) {
    for index in items.indices where items[index].entry.delivery != nil { items[index].obstacle = error }
  }

  /// Takes out the results of which no intent is recorded, and removes their files: they are made again.
  mutating func reject() -> [PhotoRecord] {
    let rejected = items.filter { !$0.isIntended }
    items.removeAll { !$0.isIntended }
    for item in rejected { for staged in item.staged { item.record.run.staging.remove(staged) } }
    return rejected.map(\.record)
  }

  // MARK: Placing

  /// What is recorded before files are renamed.
  var intents: [LedgerChange] {
    items.compactMap { item in
      item.entry.delivery == nil || item.obstacle != nil || item.isIntended
        ? nil : .intend(item.entry, run: item.record.run.runID)
    }
  }

  /// Gives the results, whose intents are recorded, their final names. What cannot be placed fails its entry, or waits when
  /// the machine is to blame.
  /// - Returns: The folders in which they are now.
  mutating func place() -> Set<String> {
    var folders: Set<String> = []
    // The variants of an entry bring the same original.
    var originals: Set<String> = []
    for index in items.indices where items[index].obstacle == nil {
      guard let delivery = items[index].entry.delivery else { continue }
      let (record, wasIntended) = (items[index].record, items[index].isIntended)
      items[index].isIntended = true
      do {
        let (live, placement) = (
          record.snapshot, Placement(folder: record.run.folder, staging: record.run.staging, ledger: ledger)
        )
        func place(_ delivery: Delivery, over occupant: Occupant? = nil) throws -> Placement.Outcome {
          let folder = items[index].folder(of: delivery)
          defer { folders.insert(folder) }
          return try wasIntended
            ? placement.recover(delivery) : placement.place(delivery, in: opened[folder], over: occupant)
        }
        if var original = items[index].original {
          try placement.check(
            delivery, before: original, in: opened[items[index].folder(of: delivery)], over: live.result?.occupant)
          let path = record.run.folder.file(original.target)
          if case .adopted(let identity) = try place(original) {
            if originals.contains(path) { original.identity = identity.text } else { original.adopt(identity) }
          } else {
            originals.insert(path)
            original.identity = live.original?.identity(bytes: original.bytes)
          }
          items[index].entry.original = original
        }
        let outcome = try place(delivery, over: live.result?.occupant)
        if case .adopted(let identity) = outcome {
          items[index].entry.delivery?.adopt(identity)
        } else {
          items[index].entry.delivery?.identity =
            live.result?.identity ?? live.original?.identity(bytes: delivery.bytes)
        }
        if let preview = items[index].preview {
          let outcome = Result { try place(preview) }
          previewPlaced(of: index, live.result?.preview?.identity, outcome)
        } else if outcome == .replaced, items[index].row.preview == nil,
          let folder = try placement.removePreview(of: record.entry.name)
        {
          folders.insert(record.run.folder.file(folder))
        }
      } catch let error where error.isOfMachineForOwnFile || error.isDamageOfLedger {
        items[index].obstacle = error
      } catch {
        fail(index, EntryFailure(error, otherwise: .io))
      }
    }
    return folders
  }

  /// Takes in what became of a preview. It is given up when it could not be placed: because its name is taken, most likely.
  private mutating func previewPlaced(
    of index: Int, _ identity: String?, _ outcome: Result<Placement.Outcome, any Error>
  ) {
    guard var preview = items[index].preview, let outcome = try? outcome.get() else {
      return items[index].dropPreview()
    }
    if case .adopted(let found) = outcome { preview.adopt(found) } else { preview.identity = identity }
    items[index].entry.preview = preview
  }

  /// Has results wait whose folder, or one above it, is not on disk.
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
    for item in held { item.record.closeResult() }
    return held
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
    for item in items { for file in item.unplaced { item.record.run.staging.remove(file) } }
  }
}

extension PhotoRecord {
  fileprivate var waitsForMachine: Bool { snapshot.failure?.isOfMachine == true }
}
