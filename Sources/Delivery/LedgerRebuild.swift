import JobIndex
import JSON
import Ledger
import Model
import System
import Transfer

/// Makes a ledger from a damaged one and from the reports and pictures in the outbox.
///
/// Copies every row of the damaged ledger that has the right digest. Reports, and the logs of runs without one,
/// identify the pictures that this program delivered, and how they were made, so that they are reused. Lost work of a
/// live job is done again and gives the same files. Symbolic links in the outbox are not followed, and files behind them
/// do not count as delivered.
///
/// Reports also identify derived names, unless their requests contain a key, headers, content or secrets, which reports
/// do not show.
struct LedgerRebuild {
  /// The sources of the new ledger.
  struct Result {
    let rows: Int
    let reports: Int

    /// Files in `jobs` that do not belong to a job of the new ledger.
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

  /// Adds what the rows of a report tell. What the ledger knows of files that have not changed since stays.
  /// - Parameter rows: Opens the rows.
  /// - Throws: `SQLiteError`, `SystemError`.
  func adopt(_ head: ReportHead, rows: () throws -> OpenFile, of job: JobFolder) throws {
    try addOutputs(of: rows(), job, sparing: true)
    guard let runID = head.runID else { return }
    if head.countsForNext { try addFailures(of: rows, runID, job) }
    if head.hasNames { try addNames(of: rows(), runID, job) }
  }

  /// - Throws: `SQLiteError`, `SystemError`.
  func run() throws -> Result {
    let rows = try FileStatus.exists(state.ledger) ? ledger.salvage(from: state.ledger) : 0
    var reports = 0
    for name in try outbox.open().names().compactMap(\.text) where !name.begins(with: ".") {
      reports += try add(outbox.job(name))
    }
    let live = try ledger.liveJobs().filter { job in try !endIfReported(job) }
    let runs = Set(live.map(\.runID))
    let names = ((try? Folder.names(in: state.jobs)) ?? []).compactMap(\.text)
    let orphans = names.filter { !$0.hasSuffix(".index") && !runs.contains(StateFolder.runID(of: $0)) }
    return Result(rows: rows, reports: reports, orphans: orphans)
  }

  /// Adds the outputs, failures and names of a job's reports, the oldest report first.
  /// - Returns: The number of reports.
  private func add(_ folder: JobFolder) throws -> Int {
    let earlier = ((try? folder.open("history").names()) ?? []).compactMap(\.text).filter(History.isRun).sorted()
    let reports = (earlier.map { "history/\($0)/report.json" } + ["report.json"]).compactMap { target in
      (try? ReportHead(of: folder.open(file: target))).map { (target, $0) }
    }
    for target in reports.map(\.0) + ["entries.jsonl"] {
      if let rows = try? folder.open(file: target) { try addOutputs(of: rows, folder) }
    }
    if let (target, head) = reports.last(where: { $0.1.countsForNext }), let runID = head.runID,
      (try? folder.open(file: target)) != nil
    {
      try addFailures(of: { try folder.open(file: target) }, runID, folder)
    }
    if let (target, head) = reports.last(where: { $0.1.hasNames }), let runID = head.runID,
      try ledger.namedRun(for: runID, job: folder.name) == nil, let rows = try? folder.open(file: target)
    {
      try addNames(of: rows, runID, folder)
    }
    return reports.count
  }

  /// Adds the outputs of rows whose files still have the same size. Before a file is replaced, its digest is compared.
  /// - Parameter isSparing: Whether files that the ledger knows by their identity keep their rows. Default: no, the ledger is new.
  private func addOutputs(of rows: OpenFile, _ folder: JobFolder, sparing isSparing: Bool = false) throws {
    var page: [LedgerChange] = []
    try ReportRow.each(of: rows) { row in
      let result = row.output.map { output in
        var provenance = Provenance(row)
        provenance?.derived = derivedFiles(of: row, folder)
        return Delivery(
          staged: "", target: output.file, bytes: output.bytes, sha256: output.sha256, origin: provenance?.text)
      }
      let original = row.source.flatMap { source in
        source.file.map { Delivery(staged: "", target: $0, bytes: source.bytes, sha256: source.sha256) }
      }
      for delivery in [result, original].compactMap({ $0 }) {
        guard !delivery.target.fields("/").contains(".."),
          let status = try? results.status(of: delivery.target, in: folder), status.kind == .file,
          status.size == delivery.bytes
        else { continue }
        if isSparing, try ledger.output(job: folder.name, target: delivery.target)?.identity == status.identity.text {
          continue
        }
        page.append(.recall(delivery, job: folder.name))
      }
      if page.count < Self.pageSize { return }
      try ledger.commit(page)
      page = []
    }
    try ledger.commit(page)
  }

  /// The files made from a row's result that are there. They are not recalled: rows have no digests of them, so that they may
  /// be others'.
  private func derivedFiles(of row: ReportRow, _ folder: JobFolder) -> [Artifact.Kind: Provenance.DerivedFile] {
    row.derived.compactMapValues { target in
      guard !target.fields("/").contains(".."),
        let status = try? results.status(of: target, in: folder), status.kind == .file,
        let file = try? folder.open(file: target),
        let sha256 = try? MessageDigest.hexDigest(ofDescriptor: file.descriptor, path: file.path)
      else { return nil }
      return Provenance.DerivedFile(bytes: status.size, sha256: sha256)
    }
  }

  /// - Parameter rows: Opens the rows.
  private func addFailures(of rows: () throws -> OpenFile, _ runID: String, _ folder: JobFolder) throws {
    let unsure = try ambiguousNames(of: rows)
    var page: [LedgerChange] = [.remember(runID, job: folder.name)]
    try ReportRow.eachLine(of: rows()) { text in
      guard ReportRow.isFailed(text), let row = try? ReportRow(parsing: text) else { return }
      let name = row.resultName
      if row.hasReplacedName, unsure.contains(name) { return }
      if let failure = row.ledgerFailure(name: name) { page.append(.recallFailure(failure, run: runID)) }
      if page.count < Self.pageSize { return }
      try ledger.commit(page)
      page = []
    }
    try ledger.commit(page)
  }

  /// The names of failed rows without a file that other rows have, too: such a row does not show the number with which its name
  /// was made unique, and must not be taken for another's.
  private func ambiguousNames(of rows: () throws -> OpenFile) throws -> Set<String> {
    var counts: [String: Int] = [:]
    try ReportRow.eachLine(of: rows()) { text in
      guard ReportRow.isFailed(text), let row = try? ReportRow(parsing: text), row.hasReplacedName else { return }
      counts[row.resultName] = 0
    }
    if counts.isEmpty { return [] }
    try ReportRow.eachLine(of: rows()) { text in
      let name = ReportRow.resultName(ofRow: text) ?? (try? ReportRow(parsing: text))?.resultName
      if let name, let count = counts[name] { counts[name] = count + 1 }
    }
    return Set(counts.filter { $0.value > 1 }.keys)
  }

  /// Adds names that can be derived from the URL of their row.
  private func addNames(of rows: OpenFile, _ runID: String, _ folder: JobFolder) throws {
    var (names, pages, lastIndex): ([JSONValue], Int, Int?) = ([], 0, nil)
    func commit() throws {
      let names = LedgerNames(page: pages, text: JSONValue.array(names).text)
      try ledger.commit([.addNames(names, run: runID)])
      pages += 1
    }
    try ReportRow.each(of: rows) { row in
      // The rows of an entry's variants are consecutive.
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

  /// Marks a job as ended if its report was delivered, unless documents in staging show that this was not complete.
  /// - Returns: Whether it has ended.
  private func endIfReported(_ job: LedgerJob) throws -> Bool {
    let folder = outbox.job(job.name)
    guard job.documents.isEmpty else { return false }
    let isReported =
      try (try? ReportHead(of: folder.open(file: "report.json")))?.runID == job.runID
      || folder.status(of: "history/" + job.runID)?.kind == .folder
    if isReported {
      try ledger.commit([.advance(job.runID, to: .ended), .release(job.runID, at: Clock.wallMilliseconds)])
    }
    return isReported
  }
}

extension ReportHead {
  /// Corresponds to `JobOutcome.countsForNext`.
  fileprivate var countsForNext: Bool { state != nil && state != .rejected && counts?.cancelled == 0 }

  /// Whether the next run keeps the derived names of this report's run.
  fileprivate var hasNames: Bool { state != nil && state != .rejected && state != .superseded }
}

extension ReportRow {
  /// The digest of the request, if the row's name was derived from the URL; nil otherwise, and for an invalid URL.
  fileprivate var derivedNameRequest: Int? {
    guard let location = try? SourceLocation(parsing: url) else { return nil }
    let derived = OutputName.derived(from: location).utf8
    guard name.utf8.starts(with: derived) else { return nil }
    // A number distinguishes it from others that are derived alike.
    let suffix = name.utf8.dropFirst(derived.count)
    let isNumber =
      suffix.count > 1 && suffix.first == UInt8(ascii: "-") && suffix.dropFirst().allSatisfy { 0x30...0x39 ~= $0 }
    guard suffix.isEmpty || isNumber else { return nil }
    return RequestDigest.digest(of: url, location, .plain, key: nil)
  }
}
