import JobIndex
import JSON
import Ledger
import Model
import System
import Transfer

/// Makes a ledger from what is left of a damaged one, and from the reports and pictures in the outbox.
///
/// Every row of the damaged one with the right digest is taken over. Reports, and the logs of runs that have none yet, tell
/// which pictures are ours. What is lost of a live job is done again, and gives the same files. In the outbox no symbolic link
/// is followed: what lies behind one is not read, and is not ours.
///
/// Reports also tell which names were derived, as far as they name the requests: not those that have a key, headers, a content
/// or secrets.
struct LedgerRebuild {
  /// What it was made from.
  struct Result {
    let rows: Int
    let reports: Int

    /// Files in `jobs` that belong to no job of the new ledger.
    let orphans: [String]
  }

  private static let pageSize = 512

  let state: StateFolder
  let outbox: OutboxFolder
  let ledger: Ledger

  private let results = ResultFolders()

  init(state: StateFolder, outbox: OutboxFolder, ledger: Ledger) {
    self.state = state
    self.outbox = outbox
    self.ledger = ledger
  }

  /// - Throws: `SQLiteError`, `SystemError`.
  func run() throws -> Result {
    let rows = try ledger.salvage(from: state.ledger)
    var reports = 0
    for name in try outbox.open().names().compactMap(\.text) where !name.hasPrefix(".") {
      reports += try add(outbox.job(name))
    }
    let live = try ledger.liveJobs().filter { job in try !endIfReported(job) }
    let runs = Set(live.map(\.runID))
    let names = ((try? Folder.names(in: state.jobs)) ?? []).compactMap(\.text)
    let orphans = names.filter { !$0.hasSuffix(".index") && !runs.contains(StateFolder.runID(of: $0)) }
    return Result(rows: rows, reports: reports, orphans: orphans)
  }

  /// Adds what a job's reports say, from the oldest on.
  /// - Returns: How many reports there are.
  private func add(_ folder: JobFolder) throws -> Int {
    let earlier = ((try? folder.open("history").names()) ?? []).compactMap(\.text).sorted()
    let reports = (earlier.map { "history/\($0)/report.json" } + ["report.json"]).compactMap { target in
      (try? ReportHead(of: folder.open(file: target))).map { (target, $0) }
    }
    for (target, _) in reports { try addOutputs(of: target, folder) }
    try addOutputs(of: "entries.jsonl", folder)
    if let (target, head) = reports.last(where: { $0.1.countsForNext }), let runID = head.runID {
      try addFailures(of: target, runID, folder)
    }
    if let (target, head) = reports.last(where: { $0.1.hasNames }), let runID = head.runID,
      try ledger.namedRun(for: runID, job: folder.name) == nil
    {
      try addNames(of: target, runID, folder)
    }
    return reports.count
  }

  /// A picture that is still as long as it was is taken to be ours: before it is replaced its digest is compared.
  private func addOutputs(of target: String, _ folder: JobFolder) throws {
    guard let file = try? folder.open(file: target) else { return }
    var page: [LedgerChange] = []
    try ReportRow.each(of: file) { row in
      let result = row.output.map { Delivery(staged: "", target: $0.file, bytes: $0.bytes, sha256: $0.sha256) }
      let original = row.source.flatMap { source in
        source.file.map { Delivery(staged: "", target: $0, bytes: source.bytes, sha256: source.sha256) }
      }
      for delivery in [result, original].compactMap({ $0 }) {
        guard !delivery.target.split(separator: "/").contains(".."),
          let status = try? results.status(of: delivery.target, in: folder), status.kind == .file,
          status.size == delivery.bytes
        else { continue }
        page.append(.recall(delivery, job: folder.name))
      }
      if page.count < Self.pageSize { return }
      try ledger.commit(page)
      page = []
    }
    try ledger.commit(page)
  }

  private func addFailures(of target: String, _ runID: String, _ folder: JobFolder) throws {
    guard let file = try? folder.open(file: target) else { return }
    var page: [LedgerChange] = [.remember(runID, job: folder.name)]
    try ReportRow.each(of: file) { row in
      let name = row.variant.map { row.name + "." + $0 } ?? row.name
      if let failure = row.ledgerFailure(name: name) { page.append(.recallFailure(failure, run: runID)) }
      if page.count < Self.pageSize { return }
      try ledger.commit(page)
      page = []
    }
    try ledger.commit(page)
  }

  /// A name that would be derived from the URL is taken to have been.
  private func addNames(of target: String, _ runID: String, _ folder: JobFolder) throws {
    guard let file = try? folder.open(file: target) else { return }
    var (names, pages, lastIndex): ([JSONValue], Int, Int?) = ([], 0, nil)
    func commit() throws {
      let names = LedgerNames(page: pages, text: JSONValue.array(names).text)
      try ledger.commit([.addNames(names, run: runID)])
      pages += 1
    }
    try ReportRow.each(of: file) { row in
      // The variants of an entry have rows one after the other.
      defer { lastIndex = row.index }
      guard row.index != lastIndex, let request = row.derivedNameRequest else { return }
      names.append(.array([.integer(request), .string(row.name)]))
      guard names.count == JobIndex.namesInPage else { return }
      try commit()
      names = []
    }
    if !names.isEmpty { try commit() }
    if pages > 0 { try ledger.commit([.name(runID, job: folder.name, pages: pages)]) }
  }

  /// A job whose report was delivered has ended, whatever a row of the damaged ledger said; but for one that was being
  /// delivered, which its documents in staging tell.
  /// - Returns: Whether it has ended.
  private func endIfReported(_ job: LedgerJob) throws -> Bool {
    let folder = outbox.job(job.name)
    guard job.documents.isEmpty else { return false }
    let isReported =
      try (try? ReportHead(of: folder.open(file: "report.json")))?.runID == job.runID
      || folder.status(of: "history/" + job.runID)?.kind == .folder
    if isReported { try ledger.commit([.advance(job.runID, to: .ended)]) }
    return isReported
  }
}

extension ReportHead {
  /// As `JobOutcome.countsForNext`.
  fileprivate var countsForNext: Bool { state != nil && state != .rejected && counts?.cancelled == 0 }

  /// Whether it is of a run whose names the next one takes over.
  fileprivate var hasNames: Bool { state != nil && state != .rejected && state != .superseded }
}

extension ReportRow {
  /// What tells its request from others, if its name is one that is derived from the URL; nil for others, and for what is no
  /// URL.
  fileprivate var derivedNameRequest: Int? {
    guard let location = try? SourceLocation(parsing: url) else { return nil }
    let derived = OutputName.derived(from: location).utf8
    guard name.utf8.starts(with: derived),
      String(decoding: name.utf8.dropFirst(derived.count), as: UTF8.self).wholeMatch(of: /(-[0-9]+)?/) != nil
    else { return nil }
    return RequestDigest.digest(of: url, location, .plain, key: nil)
  }
}
