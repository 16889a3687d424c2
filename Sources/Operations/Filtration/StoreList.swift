import Foundation
import Model
import System
import Transfer

/// The second operation of a source that lists entries: stores the downloaded list durably in the state folder, as a
/// file of the run, so that every process plans the same. Depends on a download of the queue, which gives it the
/// retries, holds and pauses of other downloads.
final class StoreList: Operation, @unchecked Sendable {  // what changes is in the record
  private let record: PhotoRecord
  private let cache: DownloadCache?
  private let state: StateFolder
  private let minFree: Int

  /// - Parameter minFree: The bytes that must stay free in the state folder's file system.
  init(_ record: PhotoRecord, cache: DownloadCache?, state: StateFolder, minFree: Int) {
    self.record = record
    self.cache = cache
    self.state = state
    self.minFree = minFree
    super.init()
    name = "keep \(record.entry.name)"
    queuePriority = record.entry.priority.queuePriority
  }

  override func main() {
    for dependency in dependencies { removeDependency(dependency) }
    defer { files.removeDownload() }
    // A finished dependency may have failed or been cancelled.
    guard record.state == .downloaded, let source = record.source else { return }
    do {
      try keep(source)
    } catch {
      try? state.openJobs().remove(name(in: state))
      if isCancelled { return record.cancel() }
      record.fail(EntryFailure(error, otherwise: .io))
    }
  }

  private func keep(_ source: PhotoRecord.Source) throws {
    if let why = try state.room(for: source.bytes, of: "the list", minFree: minFree) {
      throw EntryFailure(code: .download(.tooLarge), message: why)
    }
    let file = try files.open(source)
    let jobs = try state.openJobs()
    try jobs.remove(name(in: state))
    let list = try jobs.create(file: name(in: state), mode: 0o600)
    let digest = MessageDigest()
    var bytes = 0
    try file.eachChunk(upTo: source.bytes + 1) { chunk in
      if isCancelled { throw CancellationError() }
      digest.update(chunk)
      try list.write(chunk)
      bytes += chunk.count
    }
    // A shared source was checked when it was downloaded, and may have changed since.
    guard bytes == source.bytes, digest.hexDigest() == source.sha256 else { throw files.changed(source) }
    if source.isShared { try files.checkSum(list) }
    try list.sync()
    try jobs.sync()
  }

  private func name(in state: StateFolder) -> String { state.listName(record.run.runID) }

  private var files: SourceFiles { SourceFiles(record: record, cache: cache) }
}
