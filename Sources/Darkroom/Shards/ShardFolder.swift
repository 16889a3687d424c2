import Glibc
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

  // MARK: Cancelling

  package var isCancelled: Bool { (try? FileStatus.exists(path + "/" + Self.cancelFile)) ?? false }

  /// Cancels all shards, those that are done now and those that would be done later.
  static func cancel(_ path: String) throws(SystemError) {
    let folder = try OpenFolder(path)
    try folder.open(updating: cancelFile, mode: 0o644).sync()
    try folder.sync()
  }
}

/// The jobs that are done in shards with an outbox: for each a file in the outbox's hidden folder that names the folder of shards.
package struct ShardedJobs {
  private let outbox: String
  private static let folder = "shards"

  /// - Parameter outbox: The path of the outbox that is shared.
  package init(outbox: String) { self.outbox = outbox }

  /// Adds a job.
  /// - Throws: `StopError.outbox`, `SystemError`.
  func add(_ shards: ShardFolder) throws {
    let hidden = try OutboxFolder(path: outbox).openHidden()
    let folder = try hidden.create(Self.folder).folder
    if path(of: shards.job) != shards.path { try folder.replace(shards.job, with: shards.path + "\n", mode: 0o644) }
  }

  /// Removes a job whose report is complete.
  func remove(_ shards: ShardFolder) {
    guard path(of: shards.job) == shards.path else { return }
    try? OpenFolder(outbox).folder(OutboxFolder.hidden(Self.folder)).remove(shards.job)
  }

  /// The folder of shards of a job; nil when it is not done in shards.
  package func path(of job: String) -> String? {
    guard let file = try? OpenFolder(outbox).open(reading: OutboxFolder.hidden(Self.folder + "/" + job)),
      let start = try? file.readStart(4096), start.last == 0x0a
    else { return nil }
    return String(decoding: start.dropLast(), as: UTF8.self)
  }

  /// Their names, sorted.
  package var names: [String] {
    let folder = try? OpenFolder(outbox).folder(OutboxFolder.hidden(Self.folder))
    return ((try? folder?.names()) ?? []).compactMap(\.text).filter { path(of: $0) != nil }.sorted()
  }
}
