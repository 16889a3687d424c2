import Model
import System
import Transfer

/// Where the source of an entry is stored while it is downloaded and filtered: in memory if it is small, or in a file in staging.
struct SourceStaging: Sendable {
  let record: PhotoRecord

  /// The memory for small sources; nil when the source is needed as a file.
  let memory: BodyMemory?

  init(_ record: PhotoRecord, memory: BodyMemory?) {
    self.record = record
    // A request that must not be repeated is not sent before its file could be created.
    self.memory = record.waitingVariants.isEmpty && record.entry.request.isCacheable ? memory : nil
  }

  private var staging: Staging { record.run.staging }
  private var name: String { staging.download(record.entry.position) }

  /// The path of the file.
  var path: String { staging.path(name) }

  var hasFile: Bool { (try? staging.open(name)) != nil }

  /// What to download to: the partial download of the last try, or an empty store.
  /// - Parameter mayContinue: Whether the next try may continue this download.
  func destination(mayContinue: Bool) throws(SystemError) -> (BodyStore, PartialBody?) {
    let left = record.takePartial()
    guard mayContinue else { return (try store(), nil) }
    if let (file, partial) = left?.take(as: name) { return (BodyStore(file), partial) }
    return (try store(), PartialBody())
  }

  private func store() throws(SystemError) -> BodyStore {
    guard let memory else { return BodyStore(try create()) }
    return BodyStore(in: memory) { () throws(SystemError) in try create() }
  }

  /// Creates the file. It is private, since the cache may link it.
  private func create() throws(SystemError) -> OpenFile { try staging.create(name, mode: 0o600) }

  /// Keeps what has arrived of a download that failed, if the next try may continue it.
  func keep(_ partial: PartialBody, in store: BodyStore) {
    guard partial.bytes != nil, (try? store.moveToFile()) != nil else { return }
    record.keepPartial(PartialDownload(partial, name, in: staging))
  }

  /// Uses the source of another download of the same request.
  /// - Parameters:
  ///   - bytes: The source; nil when it is in a file.
  ///   - path: The path of that file.
  /// - Returns: Whether the entry has the source now.
  func share(_ bytes: BodyBytes?, or path: String) -> Bool {
    guard let bytes else {
      remove()
      return staging.link(path, as: name)
    }
    guard memory == nil else {
      record.keepBytes(bytes)
      return true
    }
    return (try? create().write(bytes.bytes)) != nil
  }

  /// Links the file for the other variants of the entry, each of which has its own filtration.
  func shareWithVariants() {
    for position in record.waitingVariants {
      staging.remove(staging.download(position))
      guard record.source?.isCached == false else { continue }
      // A variant without the file downloads it.
      _ = staging.link(path, as: staging.download(position))
    }
  }

  func remove() { staging.remove(name) }
}
