import Delivery
import Gallery
import Inbox
import JSON
import Model
import Scheduling
import System

/// Writes the one report of a job that was done in shards, from their reports: rows in the order of the manifest, the list of
/// failures, the page. Memory does not grow with the number of entries.
package struct ShardMerge {
  package enum Outcome: Sendable {
    /// - Parameters:
    ///   - report: The path of the report.
    ///   - unfinished: The shards whose report was not there.
    ///   - warning: Why the ledger lacks the results, or that it was made anew; nil when there is nothing to say.
    case merged(ReportHead, report: String, unfinished: [Int], warning: String?)

    /// Nothing was written, since these shards are not complete.
    case unfinished([Int])
  }

  private let shards: ShardFolder
  private var outbox: OutboxFolder
  private let state: String
  private let hasPage: Bool

  /// - Parameters:
  ///   - outbox: The path of the outbox that the shards share.
  ///   - state: The path of the state folder of runs without shards, whose ledger learns the results.
  ///   - hasPage: Whether the job gets a page.
  package init(_ shards: ShardFolder, outbox: String, state: String, hasPage: Bool) {
    (self.shards, self.state) = (shards, state)
    self.outbox = OutboxFolder(path: outbox)
    self.hasPage = hasPage
  }

  /// - Parameter isPartial: Whether a report is written also when shards are not complete: their ended rows are in it, and the
  ///   others count as cancelled.
  /// - Throws: `StopError` when another process owns the outbox, or something is in the way; `SystemError`.
  package mutating func merge(isPartial: Bool) throws -> Outcome {
    let heads = try shards.plan.shards.indices.map(shards.report)
    let unfinished = heads.indices.filter { heads[$0] == nil }
    guard unfinished.isEmpty || isPartial else { return .unfinished(unfinished) }
    outbox.handle = try OpenFolder(outbox.path)
    try SharedOutbox(outbox.path).check(shards)
    let hidden = try outbox.openHidden()
    let lock = try InstanceLock(OutboxFolder.instanceName, in: hidden, of: outbox.path)
    let ledger = try LedgerFolder(state, of: outbox, hidden)
    defer { withExtendedLifetime((lock, ledger)) {} }
    let (folder, changed) = try hidden.create("staging/shards", mode: 0o700)
    for path in changed { try Folder.sync(path) }
    for name in try folder.names().compactMap(\.text) { try folder.remove(name) }
    let staging = Staging(folder: folder.path, runID: RunID.make(), handle: folder)
    let target = outbox.job(shards.job)
    let obstacle = try prepare(target)
    let results = Result { try MergedResults(of: target, in: outbox, ledger.state, wasUsed: ledger.wasUsed) }
    var hasLedgerFailed = false
    defer { if !hasLedgerFailed { try? results.get().close() } }
    var merged = MergedHead(
      plan: shards.plan, runID: staging.runID, heads: heads.compactMap { $0 },
      unfinishedTimes: unfinished.compactMap { ShardTimes(of: $0, in: shards) },
      begun: heads.indices.compactMap { ShardTimes.begun($0, in: shards) })
    let entries = try staging.create(staging.document("entries.jsonl"))
    let failed = try staging.create(staging.document("failed.jsonl"), mode: 0o600)
    var summary = RowSummary(shards.plan, (try? results.get()).flatMap { LastRunComparison($0, shards) })
    let hasFailed = try writeRows(to: entries, failed, heads: heads, &merged, &summary)
    let unknown = summary.comparison?.failure
    merged.sinceLast = unknown == nil ? summary.comparison?.changes : nil
    merged.sameSources = try summary.sameSources(in: staging.open(staging.document("entries.jsonl")))
    let report = try staging.create(staging.document("report.json"))
    let page = try hasPage && obstacle == nil ? newPage(staging, merged) : nil
    try writeReport(merged.head, rows: staging.open(staging.document("entries.jsonl")), to: report, page)
    for file in [entries, failed, report] { try file.sync() }
    // What the rows say of files is true whatever becomes of the report.
    let warning = record(merged.head, staging, unknown.map { .failure($0) } ?? results, &hasLedgerFailed)
    let hasEarlierRun = (try? results.get())?.lastRun != nil
    try History(folder: target).putAside(hasEarlierRun: hasEarlierRun)
    try place(in: target, staging, hasFailed: hasFailed, hasPage: page != nil)
    if unfinished.isEmpty { SharedOutbox(outbox.path).merged(shards) }
    return .merged(merged.head, report: target.report, unfinished: unfinished, warning: warning)
  }

  /// The state folder of runs without shards, which this process owns.
  private struct LedgerFolder {
    let state: StateFolder
    let wasUsed: Bool
    private let lock: InstanceLock?

    init(_ path: String, of outbox: OutboxFolder, _ hidden: OpenFolder) throws {
      try Folder.createDurably(path, mode: 0o700)
      state = try StateFolder(opening: Folder.resolved(path))
      let isInOutbox = try state.path == Folder.resolved(outbox.hidden)
      lock = isInOutbox ? nil : try InstanceLock(OutboxFolder.instanceName, in: OpenFolder(state.path))
      wasUsed = try StagingFolder(of: state, in: hidden).wasThere
    }
  }

  /// Records the results in the ledger, so that a later run knows them.
  /// - Parameter hasFailed: Set when that failed.
  /// - Returns: Why that failed, or that the ledger was made anew; nil when there is nothing to say.
  private func record(
    _ head: ReportHead, _ staging: Staging, _ results: Result<MergedResults, any Error>, _ hasFailed: inout Bool
  ) -> String? {
    do {
      let results = try results.get()
      // Of shards that somebody else owns a second merge counts as another run.
      try? shards.addMerge(staging.runID)
      try results.record(head) { try staging.open(staging.document("entries.jsonl")) }
      return results.notice
    } catch {
      hasFailed = true
      return "until it is merged once more, a later run of job \(shards.job) does not know these results: \(error)"
    }
  }

  /// Creates the job's folder.
  /// - Returns: What has the name of the page and is none; nil when the page may be written.
  private func prepare(_ target: JobFolder) throws -> String? {
    do {
      var changed: [String] = []
      _ = try target.prepare(changed: &changed)
      for path in changed { try outbox.syncIfThere(path) }
      return try ExistingPage(in: target.open()).obstacle
    } catch let error as SystemError {
      throw error
    } catch {
      throw StopError.outbox("\(error)")
    }
  }

  private func newPage(_ staging: Staging, _ merged: MergedHead) throws -> JobPage {
    let file = try staging.create(staging.document(ExistingPage.name))
    let counts = merged.counts
    return try JobPage(
      to: file, job: shards.job, head: merged.head, total: counts.total - counts.cancelled, failed: counts.failed)
  }

  // MARK: Rows

  /// A shard while its entries are merged.
  private struct Source {
    let number: Int
    let isComplete: Bool
    var manifest: LineReader
    var rows: ShardRows?
    var failed: LineReader?

    /// The next entry's line of the manifest.
    var line = ""

    /// How many rows were merged.
    var merged = 0

    /// The number of the next entry in the shard, and that of its first row in the whole manifest.
    var entry = 0
    var row = 0
  }

  /// Writes the rows and the failed entries of all shards in the order of the manifest.
  /// - Parameters:
  ///   - merged: Receives the counts and bytes of unfinished shards.
  ///   - summary: Receives the rows.
  /// - Returns: Whether there are failed entries.
  private func writeRows(
    to entries: OpenFile, _ failed: OpenFile, heads: [ReportHead?], _ merged: inout MergedHead,
    _ summary: inout RowSummary
  ) throws -> Bool {
    var sources: [Int: Source] = [:]
    var order = PriorityQueue<NextRow>()
    for number in heads.indices {
      var source = try source(number, isComplete: heads[number] != nil)
      guard try advance(&source) else {
        try checkEnd(of: &source)
        continue
      }
      order.insert(NextRow(row: source.row, shard: number))
      sources[number] = source
    }
    var (text, failedText, count, hasFailed) = ("", "", 0, false)
    while let number = order.popFirst()?.shard, var source = sources[number] {
      let rows = try source.rows?.take(source.entry) ?? []
      source.merged += rows.count
      var isFailed = false
      for row in rows {
        isFailed = isFailed || ReportRow.isFailed(row)
        if heads[number] == nil { try merged.unfinished.add(ReportRow(parsing: row), at: count) }
        text += ShardRows.renumbered(summary.add(row), count) + "\n"
      }
      if isFailed, let line = source.isComplete ? try source.failed?.next() : source.line {
        failedText += line + "\n"
        hasFailed = true
      }
      if text.utf8.count + failedText.utf8.count > 1 << 20 {
        try entries.write(text)
        try failed.write(failedText)
        (text, failedText) = ("", "")
      }
      count += 1
      source.entry += 1
      if try advance(&source) {
        order.insert(NextRow(row: source.row, shard: number))
        sources[number] = source
      } else {
        try checkEnd(of: &source)
        sources[number] = nil
      }
    }
    try entries.write(text)
    try failed.write(failedText)
    let rows = heads.indices.reduce(0) { $0 + (heads[$1] == nil ? shards.plan.shards[$1].rows : 0) }
    merged.unfinished.addCancelled(rows - merged.unfinished.counts.total)
    return hasFailed
  }

  private func source(_ number: Int, isComplete: Bool) throws -> Source {
    let folder = try OpenFolder(shards.shard(number))
    let job = shards.job
    func reader(_ path: String) -> () throws(SystemError) -> OpenFile {
      { () throws(SystemError) in try folder.open(reading: path) }
    }
    var source = Source(number: number, isComplete: isComplete, manifest: LineReader(reader("\(job).jsonl")))
    if isComplete {
      source.rows = try ShardRows(report: reader("\(job)/report.json"))
      let failed = "\(job)/\(job).failed.jsonl"
      if try folder.status(of: failed) != nil { source.failed = LineReader(reader(failed)) }
    } else if try folder.status(of: job)?.kind == .folder, try folder.status(of: "\(job)/entries.jsonl") != nil {
      source.rows = try ShardRows(log: folder.open(reading: "\(job)/entries.jsonl"))
    }
    return source
  }

  /// Reads the next line of a shard's manifest.
  /// - Returns: Whether there is one.
  private func advance(_ source: inout Source) throws -> Bool {
    guard let line = try source.manifest.next() else { return false }
    guard let row = Self.row(of: line) else { throw changed(source.number) }
    (source.row, source.line) = (row, line)
    return true
  }

  /// Checks that a shard had as many entries as the plan says, and that all its rows belonged to one.
  /// - Throws: `StopError.missing`.
  private func checkEnd(of source: inout Source) throws {
    let plan = shards.plan.shards[source.number]
    let isWhole =
      try source.entry == plan.entries && source.rows?.isAtEnd() != false
      && (!source.isComplete || source.merged == plan.rows)
    guard isWhole else { throw changed(source.number) }
  }

  private func changed(_ number: Int) -> StopError {
    .missing(
      "\(shards.manifest(of: number)) is not what \"shard split\" has written, or its report is of another manifest; nothing was merged"
    )
  }

  private static let mark = "\"\(ShardPlan.rowField)\":"

  /// The number of an entry's first row. The line ends in it, as `shard split` writes it, unless somebody has changed it.
  private static func row(of line: String) -> Int? {
    // In bytes: the characters of a string take ten times as long.
    let bytes = line.utf8
    if bytes.last == UInt8(ascii: "}") {
      let digits = bytes.dropLast().reversed().prefix { $0 >= 0x30 && $0 <= 0x39 }.reversed()
      let before = bytes.dropLast(1 + digits.count).suffix(mark.utf8.count)
      if before.elementsEqual(mark.utf8) { return Int(String(decoding: digits, as: UTF8.self)) }
    }
    return (try? JSONValue(parsing: line))?[ShardPlan.rowField]?.integer
  }

  private func writeReport(_ head: ReportHead, rows: OpenFile, to file: OpenFile, _ page: JobPage?) throws {
    var report = ReportWriter(head) { try file.write($0) }
    var lines = LineReader { () throws(SystemError) in rows }
    while let row = try lines.next() {
      try report.add(row)
      try page?.add(row)
    }
    try report.end()
    try page?.end()
  }

  /// Moves the files to their names, the report last.
  private func place(in target: JobFolder, _ staging: Staging, hasFailed: Bool, hasPage: Bool) throws {
    let folder = try target.open()
    let names = [
      ("entries.jsonl", "entries.jsonl", true), ("failed.jsonl", Folder.name(of: target.failedManifest), hasFailed),
      (ExistingPage.name, ExistingPage.name, hasPage), ("report.json", "report.json", true),
    ]
    for (staged, name, isWanted) in names {
      let staged = staging.document(staged)
      if isWanted { try staging.open().rename(staged, to: folder, as: name) } else { staging.remove(staged) }
    }
    try folder.sync()
  }
}

/// A shard, by the number of its next row.
private struct NextRow: Comparable {
  let row: Int
  let shard: Int

  static func < (a: Self, b: Self) -> Bool { a.row < b.row }
}
