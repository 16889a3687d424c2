import Glibc
import System

/// The folder into which manifests and locks are dropped.
struct Inbox: Sendable {
  /// The file that says which process owns the inbox; a dot file, so it is no manifest.
  static let instanceFile = ".darkroom-instance"

  let path: String

  /// One more lock file to honour, anywhere.
  var extraLock: String?

  func file(_ name: String) -> String { path + "/" + name }

  /// The folder as it was at the start. Another one under its path, as when a share is not mounted, is not looked at.
  private let folder: FileIdentity

  /// - Throws: `SystemError`.
  init(path: String, extraLock: String?) throws(SystemError) {
    self.path = path
    self.extraLock = extraLock
    folder = try FileStatus(of: path).identity
  }

  /// Looks at everything in the folder.
  /// - Throws: `SystemError` when the folder cannot be read, or is another one. That says nothing of what is in it.
  func scan() throws(SystemError) -> InboxScan {
    var scan = InboxScan()
    let found = try FileStatus(of: path).identity
    guard (found.device, found.inode) == (folder.device, folder.inode) else {
      throw SystemError("the folder is another one than at the start", path, code: ESTALE)
    }
    for name in try Folder.names(in: path) {
      switch InboxFile(named: name) {
      case .lock: scan.locks.append(Lock(name: name.description, path: file(name.text ?? "")))
      case .skipped: break
      case .ignored(let why):
        if let kind = kind(of: name), kind != .folder { scan.ignored.append(.init(file: name, why: why)) }
      case .manifest(let job):
        do {
          let status = try FileStatus(of: file(name.text ?? ""))
          switch status.kind {
          case .file where access(file(name.text ?? ""), R_OK) != 0:
            // It may have gone away meanwhile.
            if errno != ENOENT { scan.ignored.append(.init(file: name, why: "it cannot be read")) }
          case .file:
            scan.manifests.append(.init(file: name.text ?? "", job: job, identity: status.identity))
          case .folder: break
          case .link: scan.ignored.append(.init(file: name, why: "it is a symbolic link"))
          case let kind: scan.ignored.append(.init(file: name, why: "it is a \(kind)"))
          }
        } catch  where error.code != ENOENT {
          scan.ignored.append(.init(file: name, why: "it cannot be examined: \(error)"))
        } catch {
          // It went away between the listing and the look.
        }
      }
    }
    if let extraLock, Self.isPresent(extraLock) { scan.locks.append(Lock(name: extraLock, path: extraLock)) }
    scan.manifests.sort { ($0.identity.modified, $0.file) < ($1.identity.modified, $1.file) }
    scan.locks.sort { $0.name < $1.name }
    return scan
  }

  /// Whether a lock is there. One that cannot be examined counts as present.
  private static func isPresent(_ path: String) -> Bool {
    do {
      _ = try FileStatus(of: path)
      return true
    } catch {
      return error.code != ENOENT && error.code != ENOTDIR
    }
  }

  private func kind(of name: FileName) -> FileStatus.Kind? {
    var status = stat()
    let found = (Array(path.utf8) + [0x2f] + name.bytes + [0]).withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { lstat($0, &status) } ?? -1 }
    }
    return found == 0 ? FileStatus(status).kind : nil
  }
}
