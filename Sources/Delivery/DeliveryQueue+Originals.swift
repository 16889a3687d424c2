import Dispatch
import Ledger
import Model
import Synchronization
import System

/// Delivers sources before their results, so that they can be seen while those are made.
///
/// Only the simple case is handled: the name is free. The ledger knows the file as the job's before it gets its name, so nothing
/// has to be completed after a crash. An original that is not delivered here, for whatever reason, is delivered with its result,
/// which also reports why that fails.
extension DeliveryQueue {
  /// - Parameter ending: The records that end in the same batch. Those with results deliver their originals themselves.
  /// - Returns: The changes that record where the files are.
  func deliver(originalsOf records: [PhotoRecord], besides ending: [PhotoRecord]) -> [LedgerChange] {
    guard !records.isEmpty else { return [] }
    defer {
      for record in records { record.run.staging.remove(record.run.staging.earlyOriginal(record.entry.position)) }
    }
    let withResults = Set(ending.filter { $0.state == .filtered }.map(\.id))
    var items = records.filter { !withResults.contains($0.id) }.compactMap(OriginalItem.init)
    items = Self.synced(items)
    guard !items.isEmpty, (try? ledger.commit(items.map(\.change))) != nil else { return [] }
    var (placed, withdrawals): ([OriginalItem], [LedgerChange]) = ([], [])
    for var item in items {
      if item.place() { placed.append(item) } else { withdrawals.append(item.withdrawal) }
    }
    var unsynced: Set<String> = []
    for folder in Set(placed.flatMap(\.folders)) where (try? outbox.syncIfThere(folder)) == nil {
      unsynced.insert(folder)
    }
    for item in placed where unsynced.isDisjoint(with: item.folders) { item.record.deliveredOriginal() }
    return placed.map(\.change) + withdrawals
  }

  /// Syncs the files, all at once.
  /// - Returns: The items that can be delivered.
  private static func synced(_ items: [OriginalItem]) -> [OriginalItem] {
    let ready = Mutex([Bool](repeating: false, count: items.count))
    DispatchQueue.concurrentPerform(iterations: items.count) { index in
      let isReady = items[index].sync()
      ready.withLock { $0[index] = isReady }
    }
    return zip(items, ready.withLock { $0 }).filter(\.1).map(\.0)
  }
}

/// A source in staging, and the folder that it goes to.
private struct OriginalItem: Sendable {
  let record: PhotoRecord
  private(set) var delivery: Delivery

  /// The target's folder, which exists.
  private let folder: OpenFolder

  /// The folders that got new names.
  let folders: [String]

  /// - Returns: nil when the folder cannot be made.
  init?(_ record: PhotoRecord) {
    guard let original = record.snapshot.original, !original.isDelivered else { return nil }
    (self.record, delivery) = (record, original.delivery)
    var changed: [String] = []
    guard let folder = try? record.run.folder.create(original.delivery.subfolder, changed: &changed) else { return nil }
    self.folder = folder
    folders = changed + [record.run.folder.file(original.delivery.subfolder)]
  }

  /// Syncs the file.
  /// - Returns: Whether it can be delivered.
  func sync() -> Bool {
    guard record.run.folder.isFree(delivery.target), let file = try? record.run.staging.open(delivery.staged)
    else { return false }
    return (try? file.sync()) != nil
  }

  /// Gives the file its name, and replaces nothing.
  mutating func place() -> Bool {
    let name = Folder.name(of: delivery.target)
    guard let staging = try? record.run.staging.open(),
      (try? staging.renameWithoutReplacing(delivery.staged, to: folder, as: name)) == true
    else { return false }
    delivery.identity = (try? folder.status(of: name))??.identity.text
    return true
  }

  var change: LedgerChange { .deliver(delivery, job: record.run.job) }

  /// Takes back `change`, made before the file had its name.
  var withdrawal: LedgerChange { .forget(.output(job: record.run.job, target: delivery.target, identity: nil)) }
}
