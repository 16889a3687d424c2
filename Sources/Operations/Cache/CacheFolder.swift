import Foundation
import System

/// The files of a cache: each source under its SHA-256, files that come in under a number, and the index.
package struct CacheFolder: Sendable {
  /// Links a file to a second name, or copies it; `errno` says why it could not.
  package typealias Link = @Sendable (_ path: String, _ target: String) -> Bool

  private let path: String
  private let link: Link

  init(path: String, link: @escaping Link) {
    self.path = path
    self.link = link
  }

  /// The index, beside which SQLite puts other files.
  var index: String { path + "/index.sqlite" }

  /// Creates the folder when missing, and removes the files that came in when an earlier process ended.
  func prepare() throws {
    try Folder.create(incoming, mode: 0o700)
    try removeIncoming()
  }

  func removeIndex() throws {
    for suffix in ["", "-wal", "-shm", "-journal"] { try Folder.removeFile(index + suffix) }
  }

  // MARK: Files that come in

  private var incoming: String { path + "/incoming" }

  private func incoming(_ number: Int) -> String { "\(incoming)/\(number)" }

  /// Links or copies a file that comes in. Any thread may do this.
  /// - Returns: Whether it is there now.
  func receive(_ file: String, as number: Int) -> Bool { link(file, incoming(number)) }

  /// Gives a file that came in the name by which it is found, whether or not another has it.
  /// - Returns: Whether it has that name now.
  func place(_ number: Int, as sha256: String) -> Bool {
    let target = object(sha256)
    let renamed = { uninterrupted { rename(incoming(number), target) } == 0 }
    if renamed() { return true }
    guard errno == ENOENT else { return false }
    // Only this one folder: an outbox that somebody has moved away is not to be made again.
    _ = uninterrupted { mkdir(Folder.parent(of: target), 0o700) }
    return renamed()
  }

  /// Removes a file that came in, if it is still there.
  func discard(_ number: Int) { _ = uninterrupted { unlink(incoming(number)) } }

  // MARK: Sources

  private func object(_ sha256: String) -> String { "\(path)/\(sha256.prefix(2))/\(sha256.dropFirst(2))" }

  func open(_ sha256: String) throws -> OpenFile { try OpenFile(reading: object(sha256), followingLinks: false) }

  func remove(_ sha256: String) throws { try Folder.removeFile(object(sha256)) }

  /// - Parameter isKept: Whether the source with a digest stays.
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
