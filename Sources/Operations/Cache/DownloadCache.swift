import Database
import Foundation
import Model
import Synchronization
import System
import Transfer

/// Earlier downloads: files named after their SHA-256, and an index of requests. When the limit is reached, the least
/// recently used files are removed first.
///
/// The index and the names of the files are used on the cache's own serial queue. Callers wait only for requests that
/// return a value. They link or copy large files themselves, so that nobody waits for another caller's copy.
///
/// Answers for one run only do not count towards the limit, are not removed for others, and `clear` keeps them. Their
/// size is bounded otherwise: each such entry of a live run has at most one, of at most `--max-bytes`; they are removed
/// with the run; and no queue downloads while less than `--min-free` is free.
///
/// Nothing is synced, so callers must check files against their digests. Space is made before a file is added, so that
/// the limit holds even if the process dies. Files that the index does not contain then are removed at the next start.
/// Errors of the cache do not affect its callers: on a full disk, or without memory or descriptors, the change is
/// dropped; after any other error the cache is empty until the next start.
package final class DownloadCache: @unchecked Sendable {  // the index is used on the queue only
  private enum Phase { case unopened, open, failed }

  /// The state that callers read without waiting for the queue.
  private struct Shared {
    var phase = Phase.unopened
    var limit: Int
    /// The total size of incoming sources that are not recorded yet, without those that do not count.
    var incomingBytes = 0
    /// The number of incoming sources so far, which is the name of the last one's file.
    var count = 0
    /// The runs that may have answers for one run only.
    var onceRuns: Set<String>
  }

  private let folder: CacheFolder
  private let cleared: @Sendable () -> Void
  private let report: @Sendable (any Error) -> Void

  /// The unfinished runs of an earlier process.
  private let unfinished: Set<String>
  private let shared: Mutex<Shared>
  private let queue = DispatchQueue(label: "DownloadCache")

  /// nil before the first use, after `clear` and after an error. Used on the queue only.
  private var index: CacheIndex?

  /// Creates the cache without accessing any file.
  /// - Parameters:
  ///   - folder: The path of the folder, which must contain nothing else, and should be on the file system of the files
  ///     to keep. It is created if it is missing. A damaged index is created anew.
  ///   - limit: The most bytes of sources. Sources beyond it are removed.
  ///   - unfinished: The unfinished runs of an earlier process. Answers for other runs only are removed. Default: none.
  ///   - cleared: Called on the cache's queue after each `clear`. Default: does nothing.
  ///   - report: Called on the cache's queue when an error has emptied the cache. It must not wait for the cache.
  ///   - link: Links a file, or copies it where links are refused.
  package init(
    folder: String, limit: Int, unfinished: Set<String> = [], cleared: @escaping @Sendable () -> Void = {},
    report: @escaping @Sendable (any Error) -> Void = { _ in },
    link: @escaping CacheFolder.Link = { Folder.link($0, orCopyTo: $1) }
  ) {
    self.folder = CacheFolder(path: folder, link: link)
    self.cleared = cleared
    self.report = report
    self.unfinished = unfinished
    shared = Mutex(Shared(limit: limit, onceRuns: unfinished))
  }

  /// The source that the last such request returned; nil when unknown.
  func source(_ key: CacheKey) -> CachedSource? {
    queue.sync { perform { try $0.source(key) } } ?? nil
  }

  /// Opens a source. The caller must check its bytes, and call `drop` if they are wrong.
  /// - Returns: nil when the file is missing.
  func open(_ sha256: String) -> OpenFile? { try? folder.open(sha256) }

  /// The bytes of a downloaded source.
  enum Content {
    /// The path of a file with them, which is linked, or copied where links are refused.
    case file(String)
    case memory(BodyBytes)
  }

  /// Adds a downloaded source. Its file may be removed or renamed when this returns. A source that exceeds the limit is not
  /// added.
  func keep(_ source: CachedSource, of key: CacheKey, from content: Content) {
    // The folder must exist, and the index be open.
    if shared.withLock({ $0.phase == .unopened }) { queue.sync { _ = perform { _ in } } }
    let run = source.asked.isOnce ? source.asked.runID : nil
    guard let number = reserve(source.roomBytes, for: run) else { return send { try $0.removeSource(key) } }
    let isReceived = if case .file(let path) = content { folder.receive(path, as: number) } else { true }
    queue.async { [self] in
      let isPlaced = perform { index in
        if isReceived { return try record(source, of: key, content, number, in: index) }
        try index.removeSource(key)
        return false
      }
      if isPlaced != true { folder.discard(number) }
      shared.withLock { $0.incomingBytes -= source.roomBytes }
    }
  }

  /// - Returns: The number of an incoming source; nil when there cannot be space for it.
  /// - Parameter run: The run, if the source is for one run only.
  private func reserve(_ bytes: Int, for run: String?) -> Int? {
    shared.withLock { shared in
      guard shared.phase == .open, shared.limit > 0, bytes <= max(0, shared.limit - shared.incomingBytes) else {
        return nil
      }
      shared.incomingBytes += bytes
      shared.count += 1
      if let run { shared.onceRuns.insert(run) }
      return shared.count
    }
  }

  /// Removes the answers for one run only, which has ended.
  package func end(run: String) {
    guard shared.withLock({ $0.onceRuns.remove(run) }) != nil else { return }
    send { [self] in try removeOnce(in: $0) { $0 == run } }
  }

  /// Records that a server has confirmed a source, if the cache still has it.
  func confirm(_ source: CachedSource, of key: CacheKey) { send { try $0.confirm(source, of: key) } }

  /// Removes a source whose file is damaged or missing.
  func drop(_ sha256: String) { send { [self] in try remove(sha256, in: $0) } }

  /// Removes everything except answers for live runs only, and then calls `cleared`.
  package func clear() {
    queue.async { [self] in
      removeEverything()
      cleared()
    }
  }

  /// Commits all changes requested before, so that they survive the end of this process.
  package func commit() {
    queue.sync {
      guard index != nil else { return }
      perform { index in
        try removeLost(of: index)
        try index.commit()
      }
    }
  }

  /// Changes the limit, and removes sources beyond it.
  package func resize(to limit: Int) {
    shared.withLock { $0.limit = limit }
    send { [self] in try makeRoom(in: $0) }
  }

  /// Waits until everything that was requested before is done.
  package func drain() { queue.sync {} }

  // MARK: On the queue

  private func send(_ body: @escaping @Sendable (CacheIndex) throws -> Void) { queue.async { [self] in perform(body) } }

  @discardableResult
  private func perform<T>(_ body: (CacheIndex) throws -> T) -> T? {
    guard shared.withLock({ $0.phase != .failed }) else { return nil }
    do {
      return try body(try opened())
    } catch {
      handle(error)
      return nil
    }
  }

  private func handle(_ error: any Error) {
    guard shared.withLock({ $0.phase != .failed }) else { return }
    // What cannot be removed now is removed at the next start.
    if let index { try? removeLost(of: index) }
    if let cause = error.localCause, [.space, .exhaustion, .interrupted].contains(cause) { return }
    shared.withLock { $0.phase = .failed }
    index = nil
    // The next start creates a new index, and removes the files that it does not contain.
    if (error as? SQLiteError)?.isDamage == true { try? folder.removeIndex() }
    report(error)
  }

  private func opened() throws -> CacheIndex {
    if let index { return index }
    if shared.withLock({ $0.phase == .unopened }) { try folder.prepare() }
    let opened: CacheIndex
    do {
      opened = try openIndex()
    } catch let error as SQLiteError where error.isDamage || error.isOutOfSpace {
      // Only the conversion of an earlier version's index needs space, and would fail again each time.
      try folder.removeIndex()
      opened = try openIndex()
    }
    try removeOnce(in: opened) { !unfinished.contains($0) }
    index = opened
    shared.withLock { $0.phase = .open }
    return opened
  }

  private func openIndex() throws -> CacheIndex {
    let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? UUID().uuidString
    let index = try CacheIndex(path: folder.index, boot: boot)
    // After a kill or a power cut, or with a new index, there may be files that the index does not contain.
    if !index.isCommitted { try folder.removeSources(unless: index.contains) }
    return index
  }

  /// Records a source, and names or writes its file. The index is changed first, so that the next start looks for uncommitted
  /// files.
  /// - Returns: Whether the file has its final name in the cache.
  private func record(
    _ source: CachedSource, of key: CacheKey, _ content: Content, _ number: Int, in index: CacheIndex
  ) throws -> Bool {
    let others = shared.withLock { $0.incomingBytes } - source.roomBytes
    guard source.roomBytes == 0 || source.roomBytes + others <= shared.withLock({ $0.limit }) else {
      try index.removeSource(key)
      return false
    }
    try index.put(source, of: key)
    try makeRoom(for: others, in: index)
    let isPlaced =
      switch content {
      case .file: folder.place(number, as: source.sha256)
      case .memory(let body): folder.write(body.bytes, as: source.sha256, by: number)
      }
    if isPlaced { return true }
    try remove(source.sha256, in: index)
    return false
  }

  /// - Parameter incoming: The bytes that must be free.
  private func makeRoom(for incoming: Int = 0, in index: CacheIndex) throws {
    let room = shared.withLock { $0.limit } - incoming
    while index.bytes > room, let oldest = try index.leastRecentlyUsed() { try remove(oldest, in: index) }
  }

  private func removeOnce(in index: CacheIndex, _ isOver: (String) -> Bool) throws {
    for sha256 in try index.removeOnce(isOver) { try remove(sha256, in: index) }
    try makeRoom(in: index)
  }

  private func remove(_ sha256: String, in index: CacheIndex) throws {
    try folder.remove(sha256)
    try index.remove(sha256)
  }

  /// Removes the files whose addition was rolled back.
  private func removeLost(of index: CacheIndex) throws {
    for sha256 in index.lost where try !index.contains(sha256) { try folder.remove(sha256) }
    index.removedLost()
  }

  private func removeEverything() {
    if let index, index.bytes == 0, index.lost.isEmpty, shared.withLock({ $0.incomingBytes }) == 0 { return }
    if removeAllButOnce() { return }
    // The index is removed too, since a full disk may have no space for changing it.
    index = nil
    do {
      try folder.removeIndex()
      try folder.removeFiles()
    } catch let error as SystemError where error.code == ENOENT {
      return
    } catch {
      handle(error)
    }
  }

  /// Removes all files that count towards the limit.
  /// - Returns: Whether that succeeded; false when there are no answers for one run only to keep.
  private func removeAllButOnce() -> Bool {
    guard shared.withLock({ $0.phase != .failed && !$0.onceRuns.isEmpty }) else { return false }
    do {
      let index = try opened()
      guard try index.hasOnce() else { return false }
      try removeLost(of: index)
      while let sha256 = try index.leastRecentlyUsed() { try remove(sha256, in: index) }
      return true
    } catch {
      return false
    }
  }
}

extension CachedSource {
  /// The bytes that count towards the limit.
  fileprivate var roomBytes: Int { asked.isOnce ? 0 : bytes }
}
