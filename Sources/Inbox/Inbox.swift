import Glibc
import System

/// The folder for manifests and locks. Others may write to it, so its files are opened relative to its descriptor, and
/// symbolic links are not followed.
package struct Inbox: Sendable {
  /// The file that names the process that owns the inbox. As a dot file it is not a manifest.
  package static let instanceFile = ".darkroom-instance"

  package let path: String

  /// One more lock file to honour, anywhere.
  package internal(set) var extraLock: String?

  /// Another folder whose locks to honour. Default: nil, none.
  private let sharedInbox: String?

  private let handle: InboxFolder

  package init(path: String, extraLock: String?, sharedInbox: String? = nil) throws(SystemError) {
    self.path = path
    self.extraLock = extraLock
    self.sharedInbox = sharedInbox
    handle = try InboxFolder(path)
  }

  /// The folder that was opened, also when another folder has its path now.
  package var folder: OpenFolder { handle.current }

  /// The path of a file in the inbox, for messages and the ledger.
  package func file(_ name: String) -> String { path + "/" + name }

  /// Locks the inbox, so that this process is its only instance.
  /// - Returns: Why the instance file cannot be used; nil when it can.
  /// - Throws: `StopError.busy`, `SystemError`.
  package func own() throws -> String? { try handle.own() }

  /// The outboxes that were used with the inbox, if its instance file can be read.
  package var knownOutboxes: KnownOutboxes { KnownOutboxes(notes: handle.notes) }

  /// Saves the outboxes for later processes.
  package func remember(_ outboxes: KnownOutboxes) throws(SystemError) { try handle.note(outboxes.notes) }

  /// Whether the instance file that this process wrote is in the inbox. Without it no missing file counts as removed.
  package var hasInstanceFile: Bool { handle.hasInstanceFile }

  /// Examines all files in the folder.
  /// - Throws: `SystemError` when the folder is unreadable or another one. Nothing is then known about its contents.
  package func scan() throws(SystemError) -> InboxScan {
    var scan = InboxScan()
    let folder = try handle.present()
    for name in try folder.names() {
      switch InboxFile(named: name) {
      case .lock: scan.locks.append(Lock(name, in: folder))
      case .skipped:
        if InboxLeftovers.isOne(name) { scan.leftovers.append(name) }
        if let key = CancelRequest.key(ofFile: name) { scan.cancelled.insert(key) }
      case .ignored(let why):
        if let status = try? FileStatus(of: name, in: folder) { scan.ignore(name, status, why: why) }
      case .manifest(let job):
        do {
          // The file may have been removed since the folder was listed.
          guard let status = try FileStatus(of: name, in: folder) else { continue }
          if status.kind == .file, try folder.mayRead(name.text ?? "") {
            scan.manifests.append(.init(file: name.text ?? "", job: job, identity: status.identity))
          } else {
            scan.ignore(name, status, why: "it cannot be read: \(status.access); change its mode or its owner")
            if status.kind == .file { scan.unreadable.append(name) }
          }
        } catch  where error.cause.isOfMachine {
          scan.unexamined.append(.init(file: name, why: "\(error)"))
        } catch {
          scan.ignored.append(.init(file: name, why: "it cannot be examined: \(error)"))
        }
      }
    }
    // A lock that cannot be examined counts as present.
    if let extraLock, (try? FileStatus.exists(extraLock)) ?? true {
      scan.locks.append(Lock(name: extraLock, path: extraLock))
    }
    if let sharedInbox { scan.locks += try Lock.all(in: sharedInbox) }
    scan.manifests.sort { ($0.identity.modified, $0.file) < ($1.identity.modified, $1.file) }
    scan.locks.sort { $0.name < $1.name }
    return scan
  }

  /// Whether a process has a manifest open for writing.
  package func writers(of manifest: InboxScan.Manifest) -> OpenFile.Writers {
    (try? folder.open(reading: manifest.file))?.writers ?? .unknown
  }
}

extension FileStatus {
  /// Whose file it is, and who asks.
  fileprivate var access: String {
    "its owner is uid \(owner), its mode \(String(mode, radix: 8)), and this is uid \(geteuid())"
  }
}

/// Removes temporary files of commands that were killed.
enum InboxLeftovers {
  /// The prefixes of the temporary files that commands write and then rename.
  static let prefixes = [".darkroom-add-", ".darkroom-pause-", ".darkroom-owner-", Inbox.instanceFile + "-"]

  /// The age in seconds above which no command is writing them any more.
  static let age = 3600.0

  /// Whether a name is that of a temporary file.
  static func isOne(_ name: FileName) -> Bool { prefixes.contains { name.bytes.starts(with: $0.utf8) } }

  /// Removes the temporary files that are old and owned by this process's user. Errors are ignored.
  /// - Parameter now: Seconds since 1970.
  static func remove(_ names: [FileName], from folder: OpenFolder, now: Double = Clock.wallSeconds) {
    for name in names.compactMap(\.text) {
      guard let status = try? folder.status(of: name), status.kind == .file,
        now - status.identity.modified.sinceEpoch > age, status.owner == geteuid()
      else { continue }
      try? folder.remove(name)
    }
  }
}
