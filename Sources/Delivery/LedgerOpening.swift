import Ledger
import Model
import System

/// Opens the ledger at the start. After an unclean end, or when there are live jobs, the ledger is checked. A damaged
/// one is set aside, and a new one is made from its intact rows, the reports and the pictures; so is one in the place of a
/// ledger that is missing.
package struct LedgerOpening {
  /// The limit of the check, in seconds. Rows beyond it are checked when they are read.
  static let checkTime = 10.0

  package let state: StateFolder
  package let outbox: OutboxFolder

  /// Whether the state folder was used with the outbox before, so that a missing ledger is lost.
  private let wasUsed: Bool

  package init(state: StateFolder, outbox: OutboxFolder, wasUsed: Bool) {
    self.state = state
    self.outbox = outbox
    self.wasUsed = wasUsed
  }

  /// The path at which a new ledger is made.
  private var new: String { state.path + "/ledger-new.sqlite" }

  /// - Returns: The ledger, and a message for the user; nil when there is none.
  /// - Throws: `StopError.outbox` when a link or a folder has the ledger's name; `SQLiteError`, `LedgerError`,
  ///   `SystemError`.
  package func open() throws -> (ledger: Ledger, notice: String?) {
    let folder = try state.openFolder()
    let name = Folder.name(of: state.ledger)
    if let status = try folder.status(of: name) {
      guard status.kind == .file else {
        let kind = status.kind == .link ? "symbolic link" : "\(status.kind)"
        throw StopError.outbox("\(state.ledger) is a \(kind): move it away")
      }
      // Restored from a backup. SQLite gives its own files the same mode. Some file systems have no modes.
      if status.isOpenToOthers { try? folder.open(updatingExisting: name).setAccess(mode: 0o600) }
    }
    let wasUnclean = try folder.status(of: StateFolder.useMark) != nil || hasJournal
    var notice: String?
    let ledger: Ledger
    do {
      ledger = try checkedTwice(wasUnclean)
    } catch  where error.isDamageOfLedger {
      notice = try replace(because: error)
      ledger = try Ledger(path: state.ledger)
    }
    // Not synced: a commit of the ledger syncs the folder too, or leaves a journal, which also shows an unclean end.
    // Without space the program works without the file.
    _ = try? state.openFolder().open(updating: StateFolder.useMark, mode: 0o600)
    return (ledger, notice)
  }

  /// Opens and checks the ledger, and changes nothing beside it.
  /// - Returns: nil when there is none.
  /// - Throws: As `open`; also when it is damaged.
  package func examined() throws -> Ledger? {
    let isThere = try FileStatus.exists(state.ledger)
    // A missing one may be lost.
    if try !isThere && loss == nil { return nil }
    return try checked(true)
  }

  /// Records that the ledger was closed in order.
  package func close() { try? state.openFolder().remove(StateFolder.useMark) }

  private var hasJournal: Bool { ((try? FileStatus(of: state.ledger + "-journal"))?.size ?? 0) > 0 }

  /// Opens and checks the ledger. Damage must be found by a second connection too, since read errors may be temporary.
  private func checkedTwice(_ wasUnclean: Bool) throws -> Ledger {
    do {
      return try checked(wasUnclean)
    } catch  where error.isDamageOfLedger {
      return try checked(true)
    }
  }

  private func checked(_ wasUnclean: Bool) throws -> Ledger {
    if let loss = try loss { throw LedgerError.damaged(path: state.ledger, why: loss) }
    let ledger = try Ledger(path: state.ledger)
    guard try wasUnclean || !ledger.liveJobs().isEmpty else { return ledger }
    let end = Clock.monotonicSeconds + Self.checkTime
    _ = try ledger.check(bytes: FileStatus(of: state.ledger).size) { Clock.monotonicSeconds >= end }
    return ledger
  }

  /// Why a ledger is lost of which reports or snapshots may know something; nil when there is one, and when there never was: the
  /// outbox of a new state folder may hold what another one's ledger knows, and a start that died may have left an empty file.
  private var loss: String? {
    get throws {
      let isThere = try FileStatus.exists(state.ledger)
      if isThere, try FileStatus(of: state.ledger).size > 0 { return nil }
      guard try hasSnapshots || wasUsed && hasReports else { return nil }
      return isThere ? "it is empty" : "it is missing"
    }
  }

  private var hasReports: Bool {
    get throws {
      try outbox.open().names().compactMap(\.text).contains { name in
        !name.begins(with: ".") && (try? outbox.job(name).status(of: "report.json"))??.kind == .file
      }
    }
  }

  /// Whether the state folder has snapshots, which are made only when there is a ledger.
  private var hasSnapshots: Bool {
    get throws {
      try state.openJobs().names().compactMap(\.text).contains { !$0.begins(with: ".") && !$0.ends(with: ".index") }
    }
  }

  /// Makes a new ledger, and replaces the damaged one, which is kept under another name. The rename is the last step,
  /// so that an interrupted replacement is repeated at the next start.
  private func replace(because damage: any Error) throws -> String {
    let folder = state.damaged + "/" + RunID.make()
    let isMissing = try !FileStatus.exists(state.ledger)
    try Folder.createDurably(folder, mode: 0o700)
    for path in [new, new + "-journal"] { try Folder.removeFile(path) }
    let rebuilt: LedgerRebuild.Result
    do {
      // Both are closed before the files are moved.
      let ledger = try Ledger(path: new)
      rebuilt = try LedgerRebuild(state: state, outbox: outbox, ledger: ledger).run()
    }
    try Folder.removeFile(new + "-journal")
    let lost = try rebuilt.orphans.filter { name in
      try Folder.renameWithoutReplacing(state.jobs + "/" + name, to: folder + "/" + name)
    }
    for name in ["", "-journal", "-wal", "-shm"] {
      let path = state.ledger + name
      guard try FileStatus.exists(path) else { continue }
      guard Folder.link(path, orCopyTo: folder + "/" + Folder.name(of: path)) else {
        throw SystemError("link", folder + "/" + Folder.name(of: path))
      }
      // SQLite would apply an old journal to the new ledger.
      if !name.isEmpty { try Folder.removeFile(path) }
    }
    try Folder.sync(folder)
    try Folder.rename(new, to: state.ledger)
    try Folder.sync(state.path)
    try? OpenFolder(state.damaged).removeIfEmpty(Folder.name(of: folder))
    return notice(isMissing ? nil : damage, folder, rebuilt, lost: lost.count)
  }

  /// - Parameter damage: nil when the ledger was missing.
  private func notice(_ damage: (any Error)?, _ folder: String, _ rebuilt: LedgerRebuild.Result, lost: Int) -> String {
    let reports = rebuilt.reports.of("report", "reports")
    var text: String
    if let damage {
      let why = if case .damaged(_, let why)? = damage as? LedgerError { why } else { "\(damage)" }
      text = """
        the ledger was damaged, and lies in \(folder) now (\(why)); a new one was made from \(rebuilt.rows) of its rows \
        and \(reports)
        """
    } else {
      text = "the ledger was missing; a new one was made from \(reports)"
    }
    if lost > 0 {
      text += """
        ; the manifests of \(lost.of("job", "jobs")) that it lost lie \(damage == nil ? "in " + folder : "beside it"): those \
        that are still in the inbox are processed anew
        """
    }
    return text
  }
}
