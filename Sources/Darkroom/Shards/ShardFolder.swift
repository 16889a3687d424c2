import Glibc
import Inbox
import JSON
import Model
import System

/// The folder `DIR` that `shard split` has written: `plan.json` and, for each shard, a folder `K` with its manifest and its records.
package struct ShardFolder: Sendable {
  /// The absolute path, without symbolic links.
  package let path: String
  package let plan: ShardPlan

  /// The most bytes of `plan.json` that are read.
  private static let planLimit = 256 << 20

  /// The file whose presence cancels all shards.
  static let cancelFile = "cancelled"

  /// - Throws: `StopError.missing` unless it is such a folder; `SystemError` when the machine fails.
  package init(_ given: String) throws {
    do {
      path = try Folder.resolved(given)
      let file = try OpenFolder(path).open(reading: ShardPlan.file)
      let text = String(decoding: try file.readStart(Self.planLimit), as: UTF8.self)
      guard let plan = try ShardPlan(JSONValue(parsing: text)) else {
        throw StopError.missing("\(given)/\(ShardPlan.file): it is no plan that this version can read")
      }
      self.plan = plan
    } catch let error as SystemError where error.code == ENOENT || error.code == ENOTDIR {
      throw StopError.missing("\(given) is no folder of shards: it has no \(ShardPlan.file); \"shard split\" makes one")
    } catch let error as SystemError {
      throw error.mayPassSoon ? error : StopError.missing(error)
    } catch let error as JSONError {
      throw StopError.missing("\(given)/\(ShardPlan.file): \(error)")
    }
  }

  package var job: String { plan.job }

  package func shard(_ number: Int) -> String { "\(path)/\(number)" }

  package func manifest(of number: Int) -> String { "\(shard(number))/\(job).jsonl" }

  /// The records of a shard: its reports, its log, and the files of the process that does it.
  package func records(of number: Int) -> OutboxFolder { OutboxFolder(path: shard(number)) }

  /// The head of a shard's report, if all its entries have ended; nil while it is unfinished.
  package func report(of number: Int) throws(SystemError) -> ReportHead? {
    let file: OpenFile
    do throws(SystemError) {
      file = try records(of: number).job(job).open(file: "report.json")
    } catch  where error.cause == .missing {
      return nil
    }
    guard let head = try ReportHead(of: file), let counts = head.counts, counts.cancelled == 0,
      counts.total == plan.shards[number].rows
    else { return nil }
    return head
  }

  /// Whether a process has the lock of a shard's records, here or, where the file system has such locks, on another machine.
  func isLocked(_ number: Int) throws(SystemError) -> Bool {
    try InstanceLock.holder(file: OutboxFolder.hidden(OutboxFolder.instanceName), beneath: shard(number)) != nil
  }

  /// Whether the folder can be read: its file system is mounted.
  var isThere: Bool { (try? FileStatus.exists(path + "/" + ShardPlan.file)) ?? false }

  /// Whether all shards are complete.
  var isComplete: Bool { plan.shards.indices.allSatisfy { ((try? report(of: $0)) ?? nil) != nil } }

  // MARK: Merging

  /// The file with the runs of the reports that were merged from the shards, one a line.
  private static let mergesFile = ".merged"

  /// Whether a run is an earlier merge of these shards.
  func wasMerged(_ runID: String) -> Bool {
    let text = try? OpenFolder(path).open(reading: Self.mergesFile).readAll()
    return text.map { String(decoding: $0, as: UTF8.self).split(separator: "\n").contains(Substring(runID)) } ?? false
  }

  /// Records a merge.
  func addMerge(_ runID: String) throws(SystemError) {
    let folder = try OpenFolder(path)
    let file = try folder.open(appending: Self.mergesFile, mode: 0o644)
    try file.write(runID + "\n")
    try file.sync()
    try folder.sync()
  }

  // MARK: Cancelling

  package var isCancelled: Bool { (try? FileStatus.exists(path + "/" + Self.cancelFile)) ?? false }

  /// Cancels all shards, those that are done now and those that would be done later.
  func cancel() throws(SystemError) {
    let folder = try OpenFolder(path)
    try folder.open(updating: Self.cancelFile, mode: 0o644).sync()
    try folder.sync()
  }
}
