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
  /// - Returns: The changes that record where the files are, and the folders that got new names.
  func deliver(
    originalsOf records: [PhotoRecord], besides ending: [PhotoRecord]
  ) -> (changes: [LedgerChange], folders: Set<ByteKey>) {
    guard !records.isEmpty else { return ([], []) }
    defer {
      for record in records { record.run.staging.remove(record.run.staging.earlyOriginal(record.entry.position)) }
    }
    let withResults = Set(ending.filter { $0.state == .filtered }.map(\.id))
    let items = records.filter { !withResults.contains($0.id) }.compactMap(OriginalItem.init)
    let folders = Set(items.flatMap(\.folders).map(ByteKey.init))
    let copied = Self.copied(items)
    guard !copied.isEmpty, (try? ledger.commit(copied.map(\.change))) != nil else {
      for item in copied { item.removeStaged() }
      return ([], folders)
    }
    var (placed, withdrawals): ([OriginalItem], [LedgerChange]) = ([], [])
    for var item in copied {
      if item.place() { placed.append(item) } else { withdrawals.append(item.withdrawal) }
    }
    let isSynced = folders.allSatisfy { (try? outbox.syncIfThere($0.text)) != nil }
    if isSynced { for item in placed { item.record.deliveredOriginal() } }
    return (placed.map(\.change) + withdrawals, folders)
  }

  /// Copies and syncs the files, all at once.
  /// - Returns: The items that can be delivered.
  private static func copied(_ items: [OriginalItem]) -> [OriginalItem] {
    let copied = Mutex([OriginalItem?](repeating: nil, count: items.count))
    DispatchQueue.concurrentPerform(iterations: items.count) { index in
      let item = items[index].copied()
      copied.withLock { $0[index] = item }
    }
    return copied.withLock { $0.compactMap { $0 } }
  }
}

/// A source in staging, and the folder that it goes to.
private struct OriginalItem: Sendable {
  let record: PhotoRecord
  private(set) var delivery: Delivery

  /// The target's folder, which exists.
  private let folder: OpenFolder

  /// The folders that get new names.
  let folders: [String]

  /// The copy in staging. The download itself may become the result.
  private var file: OpenFile?

  /// - Returns: nil when the folder cannot be made.
  init?(_ record: PhotoRecord) {
    guard let original = record.original, !original.isDelivered else { return nil }
    (self.record, delivery) = (record, original.delivery)
    var changed: [String] = []
    guard let folder = try? record.run.folder.create(original.delivery.subfolder, changed: &changed) else { return nil }
    self.folder = folder
    folders = changed + [record.run.folder.file(original.delivery.subfolder)]
  }

  private var staging: Staging { record.run.staging }
  private var copy: String { delivery.staged + ".copy" }

  /// Copies the file and syncs the copy.
  /// - Returns: nil when it cannot be delivered.
  func copied() -> OriginalItem? {
    guard record.run.folder.isFree(delivery.target) else { return nil }
    var item = self
    do {
      let file = try staging.create(copy)
      try staging.open(delivery.staged).copy(to: file)
      try file.sync()
      item.file = file
    } catch {
      removeStaged()
      return nil
    }
    return item
  }

  /// Gives the file its name, and replaces nothing.
  mutating func place() -> Bool {
    let name = Folder.name(of: delivery.target)
    guard let staged = try? staging.open(),
      (try? staged.renameWithoutReplacing(copy, to: folder, as: name)) == true
    else {
      removeStaged()
      return false
    }
    let identity = try? file?.status().identity
    // No identity if the file was changed already.
    delivery.identity = identity?.size == delivery.bytes ? identity?.text : nil
    return true
  }

  func removeStaged() { staging.remove(copy) }

  var change: LedgerChange { .deliver(delivery, job: record.run.job) }

  /// Takes back `change`, made before the file had its name.
  var withdrawal: LedgerChange { .forget(.output(job: record.run.job, target: delivery.target, identity: nil)) }
}
