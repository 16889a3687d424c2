import Foundation
import Ledger
import Synchronization
import Transfer

/// Sources that were downloaded before, by their content: files named after their SHA-256, and an index. The least
/// recently used goes first when there is no room.
///
/// Nothing of it is synced, and nobody depends on it: what it hands out is to be checked against its digest. Room is made
/// as soon as it is wanted, so that the limit holds whenever the program is killed; files that the index has forgotten
/// then are removed by the next start. A cache that fails is no reason to fail: it knows nothing more until then.
final class DownloadCache: Sendable {
  private struct State {
    /// nil until it is needed.
    var index: CacheIndex?
    var limit: Int
    var hasFailed = false
  }

  private let folder: String
  private let tell: @Sendable (any Error) -> Void
  private let state: Mutex<State>

  /// Touches nothing yet.
  /// - Parameters:
  ///   - folder: Where it lies, best on the file system of the files that it is to keep; nothing else may lie there. It is
  ///     created when missing, and begun anew when its index makes no sense.
  ///   - limit: Bytes of sources at most. Those beyond it are removed.
  ///   - tell: Called, on any thread, when it has failed.
  init(folder: String, limit: Int, tell: @escaping @Sendable (any Error) -> Void = { _ in }) {
    self.folder = folder
    self.tell = tell
    state = Mutex(State(limit: limit))
  }

  /// What a request gave when it was last made; nil when that is not known.
  func source(_ key: CacheKey) -> CachedSource? {
    quietly { index, _ in try index.source(key) } ?? nil
  }

  /// Opens a source. Its bytes are to be checked: `drop` is for those that are not what they should be.
  /// - Returns: nil when it is not there any more.
  func open(_ sha256: String) -> OpenFile? {
    try? OpenFile(reading: object(sha256), followingLinks: false)
  }

  /// Keeps a source that was downloaded: its file is linked, or copied where it cannot be. What is larger than the whole
  /// cache may be is not kept.
  func keep(_ source: CachedSource, of key: CacheKey, from path: String) {
    quietly(mayBeFull: true) { index, limit in
      guard source.bytes <= limit else { return try index.forget(key) }
      // It may be known and not be there: a kill undoes what the index forgot, not what was removed.
      try index.put(source, of: key)
      if !self.link(path, as: self.object(source.sha256)) { try index.remove(source.sha256) }
      try self.makeRoom(index, limit)
    }
  }

  /// Takes down that a source is what it was.
  func confirm(_ source: CachedSource, of key: CacheKey) {
    quietly(mayBeFull: true) { index, _ in
      if try index.knows(source.sha256) { try index.put(source, of: key) }
    }
  }

  /// Removes bytes that are not what they should be, or are not there.
  func drop(_ sha256: String) { quietly(mayBeFull: true) { index, _ in try self.remove(sha256, index) } }

  /// Removes everything.
  /// - Returns: Whether there was something.
  func clear() -> Bool {
    guard FileManager.default.fileExists(atPath: folder) else { return false }
    return quietly(mayBeFull: true) { index, _ in
      guard index.bytes > 0 || index.hasLost else { return false }
      try self.removeFiles(unless: { _ in false })
      try index.removeAll()
      try index.settle()
      return true
    } ?? false
  }

  /// Has the next start know what this one knows, whatever ends this one.
  func settle() {
    guard state.withLock({ $0.index != nil }) else { return }
    quietly(mayBeFull: true) { index, _ in
      if index.hasLost {
        try self.removeFiles(unless: index.knows)
        index.hasSwept()
      }
      try index.settle()
    }
  }

  /// Sets another limit, and removes what is beyond it.
  func resize(to limit: Int) {
    state.withLock { $0.limit = limit }
    quietly { index, limit in try self.makeRoom(index, limit) }
  }

  // MARK: Within the lock

  /// - Parameter mayBeFull: Whether nothing follows from want of space.
  @discardableResult
  private func quietly<T: Sendable>(
    mayBeFull: Bool = false, _ body: @Sendable (_ index: CacheIndex, _ limit: Int) throws -> T
  ) -> T? {
    do {
      return try state.withLock { state in
        guard !state.hasFailed else { return nil }
        do {
          return try body(try self.opened(&state), state.limit)
        } catch {
          if mayBeFull, (error as? any OutOfSpaceError)?.isOutOfSpace == true { return nil }
          state.hasFailed = true
          throw error
        }
      }
    } catch {
      // The next start begins it anew, and removes the files that no index knows.
      if (error as? SQLiteError)?.isDamage == true { try? removeIndex() }
      tell(error)
      return nil
    }
  }

  private func opened(_ state: inout State) throws -> CacheIndex {
    if let index = state.index { return index }
    try Folder.create(folder, mode: 0o700)
    let index: CacheIndex
    do {
      index = try open()
    } catch let error as SQLiteError where error.isDamage {
      try removeIndex()
      index = try open()
    }
    try makeRoom(index, state.limit)
    state.index = index
    return index
  }

  private func open() throws -> CacheIndex {
    let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? UUID().uuidString
    let index = try CacheIndex(in: folder, boot: boot)
    if !index.isSettled {
      // After a kill or a power cut, or with a new index, there may be some that it does not know.
      try removeFiles(unless: index.knows)
    }
    return index
  }

  private func makeRoom(_ index: CacheIndex, _ limit: Int) throws {
    while index.bytes > limit, let oldest = try index.oldest() { try remove(oldest, index) }
  }

  private func remove(_ sha256: String, _ index: CacheIndex) throws {
    try Folder.removeFile(object(sha256))
    try index.remove(sha256)
  }

  // MARK: Files

  private func object(_ sha256: String) -> String {
    "\(folder)/\(sha256.prefix(2))/\(sha256.dropFirst(2))"
  }

  /// - Returns: Whether it could be linked or copied.
  private func link(_ path: String, as object: String) -> Bool {
    if Folder.link(path, orCopyTo: object) { return true }
    guard errno == ENOENT else { return errno == EEXIST }
    // Only this one folder: an outbox that somebody has moved away is not to be made again.
    mkdir(Folder.parent(of: object), 0o700)
    return Folder.link(path, orCopyTo: object)
  }

  private func removeIndex() throws {
    for suffix in ["", "-wal", "-shm", "-journal"] { try Folder.removeFile(folder + "/index.sqlite" + suffix) }
  }

  /// - Parameter isKept: Whether the source of a digest stays.
  private func removeFiles(unless isKept: (String) throws -> Bool) throws {
    for part in try Folder.names(in: folder).compactMap(\.text) where part.utf8.count == 2 {
      for name in try Folder.names(in: folder + "/" + part).compactMap(\.text) {
        if try !isKept(part + name) { try Folder.removeFile(object(part + name)) }
      }
    }
  }
}
