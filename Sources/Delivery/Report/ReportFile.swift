import Gallery
import Glibc
import JobIndex
import JSON
import Ledger
import Manifests
import Model
import System

/// Writes the documents of a finished run to staging: failures, manifest and report. Rows are streamed from the ledger.
package struct ReportFile: @unchecked Sendable {  // the index has one owner at a time
  package let run: RunContext
  package let manifest: JobManifest
  package let outcome: JobOutcome

  /// The pauses, the oldest first. All have ended.
  package let pauses: [LedgerPause]
  package let index: JobIndex
  package let ledger: Ledger
  package let state: StateFolder

  /// The counts of the rows' sources; nil when the report need not warn of frequent ones.
  package var sources: SourceCounts?

  /// Called when the file system refuses to set the permissions of the manifest. Default: does nothing.
  package var accessRefused: @Sendable (SystemError) -> Void = { _ in }

  /// Why `--prune` removes nothing, or not everything; nil when it does, is not given, or has nothing to remove.
  package var notPruned: String?

  /// The number of files that `--prune` has removed. Default: 0.
  package var pruned = 0

  /// The warnings about the manifest.
  package var manifestWarnings: [ManifestWarning] = []

  /// Whether the manifest's `defaults` contain secrets.
  package var hasSecretDefaults = false

  /// What is to be done when the run has ended. Default: nothing.
  package var notices: Set<LedgerNotice.Kind> = []

  /// Used to write the run's page from the same rows. Default: nil, no page is written.
  package var gallery: GalleryWriter?

  package init(
    run: RunContext, manifest: JobManifest, outcome: JobOutcome, pauses: [LedgerPause], index: JobIndex, ledger: Ledger,
    state: StateFolder, sources: SourceCounts? = nil,
    accessRefused: @escaping @Sendable (SystemError) -> Void = { _ in }, manifestWarnings: [ManifestWarning] = [],
    hasSecretDefaults: Bool = false, gallery: GalleryWriter? = nil
  ) {
    self.run = run
    self.manifest = manifest
    self.outcome = outcome
    self.pauses = pauses
    self.index = index
    self.ledger = ledger
    self.state = state
    self.sources = sources
    self.accessRefused = accessRefused
    self.manifestWarnings = manifestWarnings
    self.hasSecretDefaults = hasSecretDefaults
    self.gallery = gallery
  }

  /// Writes and syncs all documents, and syncs the log. After a crash, the same documents are written again.
  /// - Throws: `SystemError`, `SQLiteError`.
  package func write() throws -> ReportDelivery {
    do {
      return try writeAll()
    } catch {
      // On a full disk the space is needed by others, and the documents are written again.
      for name in ["failed.jsonl", "manifest", "report.json", ExistingPage.name] {
        run.staging.remove(run.staging.document(name))
      }
      throw error
    }
  }

  private func writeAll() throws -> ReportDelivery {
    if outcome.counts.total > 0 { try syncEntriesLog() }
    var documents: [Delivery] = []
    if outcome.counts.failed > 0 {
      documents.append(
        try write("failed.jsonl", to: run.folder.failedManifest, mode: 0o600) { file in
          try FailureList(run: run.runID, index: index, ledger: ledger, hasCancelled: outcome.counts.cancelled > 0)
            .eachLine { try file.write($0 + "\n") }
        })
    }
    if let manifest = try stageManifest() { documents.append(manifest) }
    let page = gallery.flatMap { FinalPage(of: run, by: $0) }
    let head = try head(with: page)
    var body: String?
    documents.append(
      try write("report.json", to: run.folder.report, mode: 0o666) { body = try writeReport($0, head, page) })
    page?.place()
    var report = try ReportDelivery(
      run: run, manifest: manifest, outcome: outcome, documents: documents, head: head, notices: notices(body))
    report.notPruned = pruningWarning
    report.pruned = pruned
    return report
  }

  private func notices(_ body: String?) -> [LedgerNotice] {
    // A later run of the job replaces a superseded one, which is no end of the job.
    guard outcome.state != .superseded else { return [] }
    return LedgerNotice.Kind.allCases.filter(notices.contains).map { kind in
      LedgerNotice(
        runID: run.runID, kind: kind, job: run.job, state: outcome.state.rawValue, report: run.folder.report,
        body: kind == .notify ? body : nil)
    }
  }

  /// Syncs the log, which contains all rows, before the report says that the run is done.
  private func syncEntriesLog() throws(SystemError) {
    do {
      try run.folder.open(file: Folder.name(of: run.folder.entriesLog)).sync()
    } catch  where error.code == ENOENT {
      // A consumer may have moved the folder away.
    }
  }

  private func write(
    _ name: String, to path: String, mode: UInt32, _ body: (DigestedFile) throws -> Void
  ) throws -> Delivery {
    let staged = run.staging.document(name)
    let file = DigestedFile(try run.staging.create(staged, mode: mode))
    try body(file)
    try file.sync()
    return Delivery(staged: staged, target: Folder.name(of: path), bytes: file.size, sha256: file.digest.hexDigest())
  }

  /// Links the snapshot, which is synced, or copies it where links are refused.
  /// - Returns: nil when there is neither a snapshot nor space for the file.
  private func stageManifest() throws -> Delivery? {
    if manifest.tooLarge != nil { return try stageUncopied() }
    let (staging, name) = (try run.staging.open(), run.staging.document("manifest"))
    try staging.remove(name)
    let snapshot = state.snapshot(run.runID, extension: manifest.fileExtension)
    guard staging.link(snapshot, orCopyTo: name) else { throw SystemError("link", run.staging.path(name)) }
    let file = try staging.open(reading: name)
    try setAccess(of: file)
    return try delivery(of: file, staged: name)
  }

  private func delivery(of file: OpenFile, staged name: String) throws -> Delivery {
    try file.sync()
    let target = run.folder.manifest(extension: manifest.fileExtension)
    return Delivery(
      staged: name, target: Folder.name(of: target), bytes: try file.status().size, sha256: manifest.sha256)
  }

  /// Gives the manifest the permissions of the file that was dropped, or makes it private if it contains secrets. Some
  /// file systems, such as CIFS, do not support permissions.
  private func setAccess(of file: OpenFile) throws {
    guard let mode = manifest.mode else { return }
    let isPlanned = outcome.state != .rejected && outcome.state != .superseded && manifest.list == nil
    let isSecret =
      try isPlanned
      ? hasSecretDefaults || index.hasSecrets()
      : ManifestFile(path: file.path, isCompressed: ManifestFile.isCompressed(manifest.fileExtension)).mayHoldSecrets
    do throws(SystemError) {
      if isSecret { try file.makePrivate() } else { try file.setAccess(mode: mode, group: manifest.group) }
    } catch {
      guard [EPERM, ENOTSUP, ENOSYS].contains(error.code) else { throw error }
      accessRefused(error)
    }
  }

  /// Links a manifest without a snapshot from the inbox, or copies it if it was read completely and links are refused.
  private func stageUncopied() throws -> Delivery? {
    let (staging, name) = (try run.staging.open(), run.staging.document("manifest"))
    try staging.remove(name)
    guard let path = manifest.inboxPath else { return nil }
    let isRead = !manifest.sha256.isEmpty
    guard isRead ? staging.link(path, orCopyTo: name) : staging.link(path, as: name) else { return nil }
    let file: OpenFile
    do {
      file = try staging.open(reading: name)
      let status = try file.status()
      let isUnchanged =
        isRead
        ? try MessageDigest.hexDigest(ofDescriptor: file.descriptor, path: file.path) == manifest.sha256
        : ManifestRemoval.isSameFile(status.identity, manifest.identity)
      guard status.kind == .file, isUnchanged else {
        try staging.remove(name)
        return nil
      }
    } catch  where error.cause == .occupied {
      // The name belongs to a symbolic link now.
      try staging.remove(name)
      return nil
    }
    return try delivery(of: file, staged: name)
  }

  private var pruningWarning: String? { notPruned.map { ReportWarning.notPruned($0, pruned: pruned) } }

  private func head(with page: FinalPage?) throws -> ReportHead {
    let obstacle = page?.obstacle.map { obstacle in
      ReportWarning(
        code: .pageObstacle, message: "\(ExistingPage.name) is \(obstacle) and stays: the job has no page",
        location: ExistingPage.name)
    }
    let damaged = outcome.damaged.map {
      ReportWarning(code: .damagedPictures, message: $0.message, location: "entries[\($0.position)]")
    }
    let kept = pruningWarning.map { ReportWarning(code: .notPruned, message: $0, location: "") }
    return ReportHead(
      run: run, manifest: manifest, outcome: outcome, pauses: pauses,
      warnings: try manifestWarnings.map(ReportWarning.init) + sameSources()
        + [damaged, obstacle, kept].compactMap { $0 })
  }

  /// - Returns: The body of the notification; nil when none is sent.
  private func writeReport(_ file: DigestedFile, _ head: ReportHead, _ page: FinalPage?) throws -> String? {
    page?.begin(head, outcome.counts)
    var notification =
      notices.contains(.notify) ? NotificationBody(run: run, head: head, failed: outcome.counts.failed) : nil
    var report = ReportWriter(head) { try file.write($0) }
    try ledger.eachEndedPage(run: run.runID) { rows in
      for row in rows {
        try report.add(row.row)
        page?.add(row.row)
        try notification?.add(row.row)
      }
    }
    try report.end()
    return notification?.text
  }

  /// The warnings about frequent sources. Rows are read only if a source may be frequent enough.
  private func sameSources() throws -> [ReportWarning] {
    guard let sources, sources.isAnyFrequent else { return [] }
    var same = SameSources(threshold: sources.threshold)
    try ledger.eachEndedPage(run: run.runID) { rows in
      for row in rows {
        guard let sha256 = ReportRow.sourceSHA256(ofFiltered: row.row), sources.isFrequent(sha256),
          let request = try index.requestIdentity(at: row.position)
        else { continue }
        try same.add(sha256, index: row.position, request: request) { try ReportRow(parsing: row.row).name }
      }
    }
    return same.warnings
  }
}

/// A file that is written sequentially, with the digest of its bytes.
private final class DigestedFile {
  let digest = MessageDigest()
  private(set) var size = 0
  private let file: OpenFile

  init(_ file: OpenFile) { self.file = file }

  func write(_ text: String) throws(SystemError) {
    try file.write(text)
    digest.update(text)
    size += text.utf8.count
  }

  func sync() throws(SystemError) { try file.sync() }
}
