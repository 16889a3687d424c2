import Foundation
import System

/// The files of a cache: sources named after their SHA-256, incoming files named by numbers, and the index.
package struct CacheFolder: Sendable {
  /// Links a file to a second name, or copies it. On failure `errno` is set.
  package typealias Link = @Sendable (_ path: String, _ target: String) -> Bool

  private let path: String
  private let link: Link

  init(path: String, link: @escaping Link) {
    self.path = path
    self.link = link
  }

  /// The path of the index. SQLite adds other files beside it.
  var index: String { path + "/index.sqlite" }

  /// Creates the folder if it is missing, but not the one above it, and removes incoming files that an earlier process left.
  func prepare() throws {
    var created: [String] = []
    try Folder.create(incoming, beneath: Folder.parent(of: path), mode: 0o700, changed: &created)
    try removeIncoming()
  }

  func removeIndex() throws {
    for suffix in ["", "-wal", "-shm", "-journal"] { try Folder.removeFile(index + suffix) }
  }

  // MARK: Incoming files

  private var incoming: String { path + "/incoming" }

  private func incoming(_ number: Int) -> String { "\(incoming)/\(number)" }

  /// Links or copies an incoming file. May be called on any thread.
  /// - Returns: Whether it succeeded.
  func receive(_ file: String, as number: Int) -> Bool { link(file, incoming(number)) }

  /// Renames an incoming file to its digest, and replaces an existing file of that name.
  /// - Returns: Whether it succeeded.
  func place(_ number: Int, as sha256: String) -> Bool {
    let target = object(sha256)
    let renamed = { uninterrupted { rename(incoming(number), target) } == 0 }
    if renamed() { return true }
    guard errno == ENOENT else { return false }
    makeFolder(of: target)
    return renamed()
  }

  /// Removes an incoming file, if it exists.
  func discard(_ number: Int) { _ = uninterrupted { unlink(incoming(number)) } }

  // MARK: Sources

  private func object(_ sha256: String) -> String { "\(path)/\(sha256.prefix(2))/\(sha256.dropFirst(2))" }

  /// Creates the folder of a source. Only this one: the outbox must not be created again when it was moved away.
  private func makeFolder(of object: String) { _ = uninterrupted { mkdir(Folder.parent(of: object), 0o700) } }

  /// Writes a source. A file of that name, which may be damaged, is replaced by an incoming one, unless that fails.
  /// - Parameter number: The number of that file.
  /// - Returns: Whether there is a file of that name; false when it is not complete.
  func write(_ bytes: [UInt8], as sha256: String, by number: Int) -> Bool {
    let file: OpenFile
    do throws(SystemError) {
      file = try create(sha256)
    } catch  where error.code == EEXIST {
      let isWritten = (try? OpenFile(creating: incoming(number), mode: 0o600).write(bytes)) != nil
      if !isWritten || !place(number, as: sha256) { discard(number) }
      return true
    } catch {
      // Without descriptors nothing is created, and what exists is not found out.
      return access(object(sha256), F_OK) == 0
    }
    return (try? file.write(bytes)) != nil
  }

  private func create(_ sha256: String) throws(SystemError) -> OpenFile {
    let target = object(sha256)
    do throws(SystemError) {
      return try OpenFile(creating: target, mode: 0o600)
    } catch  where error.code == ENOENT {
      makeFolder(of: target)
      return try OpenFile(creating: target, mode: 0o600)
    }
  }

  func open(_ sha256: String) throws -> OpenFile { try OpenFile(reading: object(sha256), followingLinks: false) }

  func remove(_ sha256: String) throws { try Folder.removeFile(object(sha256)) }

  /// - Parameter isKept: Whether to keep the source with a digest.
  func removeSources(unless isKept: (_ sha256: String) throws -> Bool) throws {
    for part in try Folder.names(in: path).compactMap(\.text) where part.utf8.count == 2 {
      for name in try Folder.names(in: path + "/" + part).compactMap(\.text) where try !isKept(part + name) {
        try remove(part + name)
      }
    }
  }

  func removeFiles() throws {
    try removeIncoming()
    try removeSources { _ in false }
  }

  private func removeIncoming() throws {
    for name in try Folder.names(in: incoming).compactMap(\.text) { try Folder.removeFile(incoming + "/" + name) }
  }
}
