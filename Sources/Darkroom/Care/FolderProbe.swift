import Glibc
import Model
import System

/// Tries in a folder what the program needs there, with files that it removes again. The inbox ignores them, since their
/// names begin with a dot.
struct FolderProbe {
  private let folder: OpenFolder
  private let name: String

  /// - Throws: `SystemError` when the folder cannot be opened.
  init(_ path: String) throws(SystemError) {
    folder = try OpenFolder(path)
    name = ".darkroom-doctor-\(getpid())-\(UInt32.random(in: 0 ... .max))"
  }

  var isOnNetwork: Bool { folder.isOnNetwork }

  func device() throws(SystemError) -> UInt64 { UInt64(try folder.status().identity.device) }

  /// Creates, syncs, renames and removes a file.
  /// - Returns: How much later than this machine's clock the file system's is, in seconds.
  /// - Throws: `SystemError` of the step that fails.
  func write() throws(SystemError) -> Double {
    let renamed = name + ".new"
    defer { for name in [name, renamed] { try? folder.remove(name) } }
    let began = Clock.wallSeconds
    let file = try folder.create(file: name, mode: 0o600)
    try file.write("darkroom doctor\n")
    try file.sync()
    try folder.rename(name, to: folder, as: renamed)
    try folder.sync()
    let modified = try file.status().identity.modified.sinceEpoch
    // The kernel takes the time of its last tick.
    return modified < began - 0.1 ? modified - began : max(0, modified - Clock.wallSeconds)
  }

  /// Renames a file into another folder, as each result is delivered.
  func rename(into other: FolderProbe) throws(SystemError) {
    defer {
      try? folder.remove(name)
      try? other.folder.remove(name)
    }
    _ = try folder.create(file: name, mode: 0o600)
    try folder.rename(name, to: other.folder, as: name)
  }

  /// Whether a second process could not take a lock that is held.
  func honoursLocks() throws(SystemError) -> Bool {
    defer { try? folder.remove(name) }
    let first = try folder.open(updating: name, mode: 0o600)
    guard try first.lockExclusively() else { return false }
    return try !folder.open(updatingExisting: name).lockExclusively()
  }

  /// Whether a file can have two names, which spares copies.
  func hasLinks() throws(SystemError) -> Bool {
    let second = name + ".link"
    defer { for name in [name, second] { try? folder.remove(name) } }
    let file = try folder.create(file: name, mode: 0o600)
    return folder.link(file.path, as: second)
  }
}
