import Glibc
import System

/// The folder into which manifests and locks are dropped. Others may write to it: everything in it is reached by way of its
/// descriptor, and no symbolic link is followed.
package struct Inbox: Sendable {
  /// The file that says which process owns the inbox; a dot file, so it is no manifest.
  package static let instanceFile = ".darkroom-instance"

  package let path: String

  /// One more lock file to honour, anywhere.
  var extraLock: String?

  private let handle: InboxFolder

  package init(path: String, extraLock: String?) throws(SystemError) {
    self.path = path
    self.extraLock = extraLock
    handle = try InboxFolder(path)
  }

  /// The folder as it was opened, also while another one has its path.
  package var folder: OpenFolder { handle.current }

  /// The path of a file in it, for messages and for the ledger.
  package func file(_ name: String) -> String { path + "/" + name }

  /// Becomes the one instance on the inbox.
  /// - Returns: Why the file that says so cannot be used; nil when it can.
  /// - Throws: `StopError.busy`, `SystemError`.
  package func own() throws -> String? { try handle.own() }

  /// The outboxes that were used with it, as far as its instance file is to be had.
  package var knownOutboxes: KnownOutboxes { KnownOutboxes(notes: handle.notes) }

  /// Saves its outboxes for later processes.
  package func remember(_ outboxes: KnownOutboxes) throws(SystemError) { try handle.note(outboxes.notes) }

  /// Whether the instance file is there that this process wrote: without it nothing that is missing counts as removed.
  package var hasInstanceFile: Bool { handle.hasInstanceFile }

  /// Looks at everything in the folder.
  /// - Throws: `SystemError` when the folder cannot be read, or is another one. That says nothing about what is in it.
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
          // It may have gone away since the listing.
          guard let status = try FileStatus(of: name, in: folder) else { continue }
          if status.kind == .file, try folder.mayRead(name.text ?? "") {
            scan.manifests.append(.init(file: name.text ?? "", job: job, identity: status.identity))
          } else {
            scan.ignore(name, status, why: "it cannot be read")
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
    scan.manifests.sort { ($0.identity.modified, $0.file) < ($1.identity.modified, $1.file) }
    scan.locks.sort { $0.name < $1.name }
    return scan
  }

  /// Who has a manifest open for writing.
  package func writers(of manifest: InboxScan.Manifest) -> OpenFile.Writers {
    (try? folder.open(reading: manifest.file))?.writers ?? .unknown
  }
}

/// Removes what commands that were killed left in the inbox.
enum InboxLeftovers {
  /// What the names of files begin with that commands write before they get their own names.
  static let prefixes = [".darkroom-add-", ".darkroom-pause-", ".darkroom-owner-", Inbox.instanceFile + "-"]

  /// How old they are, in seconds, when no command can be writing them any more.
  static let age = 3600.0

  /// Whether a name is that of such a file.
  static func isOne(_ name: FileName) -> Bool { prefixes.contains { name.bytes.starts(with: $0.utf8) } }

  /// Removes those that are files of this process's user and old. What cannot be removed stays.
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
