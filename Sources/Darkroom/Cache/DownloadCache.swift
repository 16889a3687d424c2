import Foundation
import Ledger
import Synchronization
import Transfer

/// Sources that were downloaded before, by their content: files named after their SHA-256, and an index. The least
/// recently used goes first when there is no room.
///
/// Nothing of it is synced, and nobody depends on it: what it hands out is to be checked against its digest. A file is in
/// the index before it lies under its name, and leaves its name before it leaves the index, so that the limit holds
/// whenever the program is killed. A cache that fails is no reason to fail: it knows nothing more until the next start.
final class DownloadCache: Sendable {
  private struct State {
    let index: CacheIndex
    var limit: Int
    var hasFailed = false
  }

  private let folder: String
  private let tell: @Sendable (any Error) -> Void
  private let state: Mutex<State>

  /// Opens the cache, creates it when missing, and begins it anew when its index makes no sense.
  /// - Parameters:
  ///   - folder: Where it lies, best on the file system of the files that it is to keep; nothing else may lie there.
  ///   - limit: Bytes of sources at most. Those beyond it are removed.
  ///   - tell: Called, on any thread, when it has failed.
  /// - Throws: `SystemError`, `SQLiteError` when there cannot be one.
  init(folder: String, limit: Int, tell: @escaping @Sendable (any Error) -> Void = { _ in }) throws {
    self.folder = folder
    self.tell = tell
    try Folder.create(folder, mode: 0o700)
    let opened: CacheIndex
    do {
      opened = try Self.open(folder)
    } catch let error as SQLiteError where error.isDamage {
      try Self.removeIndex(folder)
      opened = try Self.open(folder)
    }
    state = Mutex(State(index: opened, limit: limit))
    quietly { try self.makeRoom($0) }
  }

  private static func open(_ folder: String) throws -> CacheIndex {
    let index = try CacheIndex(in: folder)
    try sweep(folder, index)
    return index
  }

  /// What a request gave when it was last made; nil when that is not known.
  func source(_ key: CacheKey) -> CachedSource? {
    quietly { try $0.index.source(key) } ?? nil
  }

  /// Opens a source. Its bytes are to be checked: `drop` is for those that are not what they should be.
  /// - Returns: nil when it is not there any more.
  func open(_ sha256: String) -> OpenFile? {
    try? OpenFile(reading: object(sha256), followingLinks: false)
  }

  /// Keeps a source that was downloaded: its file is linked, or copied where it cannot be. What is larger than the whole
  /// cache may be is not kept.
  func keep(_ source: CachedSource, of key: CacheKey, from path: String) {
    quietly(mayBeFull: true) { state in
      guard source.bytes <= state.limit else { return try state.index.forget(key) }
      if try state.index.put(source, of: key), !self.link(path, as: self.object(source.sha256)) {
        try state.index.remove(source.sha256)
      }
      try self.makeRoom(state)
    }
  }

  /// Takes down that a source is what it was.
  func confirm(_ source: CachedSource, of key: CacheKey) {
    quietly(mayBeFull: true) { state in
      if try state.index.knows(source.sha256) { _ = try state.index.put(source, of: key) }
    }
  }

  /// Removes bytes that are not what they should be, or are not there.
  func drop(_ sha256: String) { quietly { try self.remove(sha256, $0.index) } }

  /// Removes everything.
  /// - Returns: Whether there was something.
  func clear() -> Bool {
    quietly { state in
      guard state.index.bytes > 0 else { return false }
      try state.index.removeAll { try Folder.removeFile(self.object($0)) }
      return true
    } ?? false
  }

  /// Sets another limit.
  func resize(to limit: Int) {
    quietly { state in
      state.limit = limit
      try self.makeRoom(state)
    }
  }

  // MARK: Within the lock

  /// - Parameter mayBeFull: Whether nothing follows from want of space.
  @discardableResult
  private func quietly<T: Sendable>(mayBeFull: Bool = false, _ body: @Sendable (inout State) throws -> T) -> T? {
    do {
      return try state.withLock { state in
        guard !state.hasFailed else { return nil }
        do {
          return try body(&state)
        } catch {
          if mayBeFull, (error as? any OutOfSpaceError)?.isOutOfSpace == true { return nil }
          state.hasFailed = true
          throw error
        }
      }
    } catch {
      // The next start begins it anew, and removes the files that no index knows.
      if (error as? SQLiteError)?.isDamage == true { try? Self.removeIndex(folder) }
      tell(error)
      return nil
    }
  }

  private func makeRoom(_ state: borrowing State) throws {
    while state.index.bytes > state.limit, let oldest = try state.index.oldest() { try remove(oldest, state.index) }
  }

  private func remove(_ sha256: String, _ index: CacheIndex) throws {
    try Folder.removeFile(object(sha256))
    try index.remove(sha256)
  }

  // MARK: Files

  private func object(_ sha256: String) -> String { Self.object(sha256, in: folder) }

  private static func object(_ sha256: String, in folder: String) -> String {
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

  private static func removeIndex(_ folder: String) throws {
    for suffix in ["", "-wal", "-shm", "-journal"] { try Folder.removeFile(folder + "/index.sqlite" + suffix) }
  }

  /// Removes files that the index does not know: after a power cut, or with a new index, there may be some.
  private static func sweep(_ folder: String, _ index: CacheIndex) throws {
    let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? ""
    guard try index.boot() != boot else { return }
    for part in try Folder.names(in: folder).compactMap(\.text) where part.utf8.count == 2 {
      for name in try Folder.names(in: folder + "/" + part).compactMap(\.text) {
        if try !index.knows(part + name) { try Folder.removeFile(object(part + name, in: folder)) }
      }
    }
    try index.setBoot(boot)
  }
}
