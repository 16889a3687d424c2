import Database
import Foundation
import Model
import Synchronization
import System
import Transfer

/// Sources that were downloaded before, by their content: files named after their SHA-256, and an index. The least
/// recently used are removed first when there is no room.
///
/// The index and the names of the files belong to a queue of the cache's own. Requests to it are carried out one after the
/// other, in the order in which they were made; callers wait only for those that have an answer. Files are linked or copied
/// by their callers, so that nobody waits for a copy of somebody else.
///
/// Answers that are for one run only take no room: they count for no limit, are not removed for others, and `clear` leaves
/// them. What bounds them is that there is one for each such entry of a live run at most, of `--max-bytes` at most, that
/// they go with the run, and that no queue downloads anything while less than `--min-free` is free.
///
/// Nothing is synced, and what the cache hands out is to be checked against its digest. Room is made before a file is
/// added, so that the limit holds whenever the process dies; files that the index does not contain then are removed by the
/// next start. A failure of the cache is nobody else's: on a full disk, or without memory or descriptors, a change is given
/// up, after any other failure the cache is empty until the next start.
package final class DownloadCache: @unchecked Sendable {  // the index is used on the queue only
  private enum Phase { case unopened, open, failed }

  /// What callers read without waiting for the queue.
  private struct Shared {
    var phase = Phase.unopened
    var limit: Int
    /// The size of all files that have come in and are not recorded yet, but for those that take no room.
    var incomingBytes = 0
    /// How many files have come in; the number of the last one.
    var count = 0
    /// The runs that may have answers for themselves only.
    var onceRuns: Set<String>
  }

  private let folder: CacheFolder
  private let cleared: @Sendable () -> Void
  private let report: @Sendable (any Error) -> Void

  /// The runs that an earlier process left.
  private let unfinished: Set<String>
  private let shared: Mutex<Shared>
  private let queue = DispatchQueue(label: "DownloadCache")

  /// nil until it is needed, after `clear` and after a failure. Used on the queue only.
  private var index: CacheIndex?

  /// Touches nothing yet.
  /// - Parameters:
  ///   - folder: Where it lies, best on the file system of the files that it is to keep; nothing else may lie there. It is
  ///     created when missing; its index is begun anew when it is damaged.
  ///   - limit: Bytes of sources at most. Those beyond it are removed.
  ///   - unfinished: The runs that an earlier process left; what was kept for other runs only goes. Default: none.
  ///   - cleared: Called on the cache's queue after each `clear`. Default: nothing is done.
  ///   - report: Called on the cache's queue when it has failed. It must not wait for the cache.
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

  /// What a request returned when it was last made; nil when that is not known.
  func source(_ key: CacheKey) -> CachedSource? {
    queue.sync { perform { try $0.source(key) } } ?? nil
  }

  /// Opens a source. Its bytes are to be checked: `drop` is for those that are not what they should be.
  /// - Returns: nil when it is not there any more.
  func open(_ sha256: String) -> OpenFile? { try? folder.open(sha256) }

  /// Keeps a source that was downloaded: its file is linked, or copied where it cannot be linked, and may be removed or
  /// renamed as soon as this returns. A source for which the limit leaves no room is not kept.
  func keep(_ source: CachedSource, of key: CacheKey, from path: String) {
    // The folder must be there.
    if shared.withLock({ $0.phase == .unopened }) { queue.sync { _ = perform { _ in } } }
    let run = source.asked.isOnce ? source.asked.runID : nil
    guard let number = reserve(source.roomBytes, for: run) else {
      return send { try $0.removeSource(key) }
    }
    let isReceived = folder.receive(path, as: number)
    queue.async { [self] in
      let isPlaced = perform { index in
        if isReceived { return try record(source, of: key, number, in: index) }
        try index.removeSource(key)
        return false
      }
      if isPlaced != true { folder.discard(number) }
      shared.withLock { $0.incomingBytes -= source.roomBytes }
    }
  }

  /// - Returns: The number for a file that comes in, nil when there can be no room for it.
  /// - Parameter run: The run that the file is for, if it is for one only.
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

  /// Removes what was kept for one run only, which has ended.
  package func end(run: String) {
    guard shared.withLock({ $0.onceRuns.remove(run) }) != nil else { return }
    send { [self] in try removeOnce(in: $0) { $0 == run } }
  }

  /// Records that a server has confirmed a source, if the cache still has it.
  func confirm(_ source: CachedSource, of key: CacheKey) { send { try $0.confirm(source, of: key) } }

  /// Removes bytes that are not what they should be, or are not there.
  func drop(_ sha256: String) { send { [self] in try remove(sha256, in: $0) } }

  /// Removes everything but the answers for live runs only, and then calls `cleared`.
  package func clear() {
    queue.async { [self] in
      removeEverything()
      cleared()
    }
  }

  /// Commits everything that was requested before, so that the next start knows it, however this process ends.
  package func commit() {
    queue.sync {
      guard index != nil else { return }
      perform { index in
        try removeLost(of: index)
        try index.commit()
      }
    }
  }

  /// Sets another limit, and removes what is beyond it.
  package func resize(to limit: Int) {
    shared.withLock { $0.limit = limit }
    send { [self] in try makeRoom(in: $0) }
  }

  // MARK: On the queue

  private func send(_ body: @escaping @Sendable (CacheIndex) throws -> Void) {
    queue.async { [self] in perform(body) }
  }

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
    // The next start removes what cannot be removed now.
    if let index { try? removeLost(of: index) }
    if let cause = error.localCause, [.space, .exhaustion, .interrupted].contains(cause) { return }
    shared.withLock { $0.phase = .failed }
    index = nil
    // The next start begins it anew, and removes the files that no index contains.
    if (error as? SQLiteError)?.isDamage == true { try? folder.removeIndex() }
    report(error)
  }

  private func opened() throws -> CacheIndex {
    if let index { return index }
    if shared.withLock({ $0.phase == .unopened }) { try folder.prepare() }
    let opened: CacheIndex
    do {
      opened = try openIndex()
    } catch let error as SQLiteError where error.isDamage {
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
    // After a kill or a power cut, or with a new index, there may be files that it does not contain.
    if !index.isCommitted { try folder.removeSources(unless: index.contains) }
    return index
  }

  /// Records a file that came in. The index is changed first: from then on the next start looks for files that were not
  /// committed.
  /// - Returns: Whether the file has the name by which it is found.
  private func record(_ source: CachedSource, of key: CacheKey, _ number: Int, in index: CacheIndex) throws -> Bool {
    let others = shared.withLock { $0.incomingBytes } - source.roomBytes
    guard source.roomBytes == 0 || source.roomBytes + others <= shared.withLock({ $0.limit }) else {
      try index.removeSource(key)
      return false
    }
    try index.put(source, of: key)
    try makeRoom(for: others, in: index)
    if folder.place(number, as: source.sha256) { return true }
    try remove(source.sha256, in: index)
    return false
  }

  /// - Parameter incoming: Bytes that are to be free.
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

  /// Removes the files that were added by changes that were undone.
  private func removeLost(of index: CacheIndex) throws {
    for sha256 in index.lost where try !index.contains(sha256) { try folder.remove(sha256) }
    index.removedLost()
  }

  private func removeEverything() {
    if let index, index.bytes == 0, index.lost.isEmpty, shared.withLock({ $0.incomingBytes }) == 0 { return }
    if removeAllButOnce() { return }
    // The index is removed, too: on a full disk there may be no room to change it.
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

  /// Removes everything that takes room.
  /// - Returns: Whether that could be done; false when there is nothing besides.
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
  /// How many bytes of the limit it takes.
  fileprivate var roomBytes: Int { asked.isOnce ? 0 : bytes }
}
