import Foundation
import JSON
import Manifests
import Model
import Operations
import System

extension Status {
  /// Finds the queued manifests that wait for another one of the same job.
  /// - Parameter replaceable: The files of live jobs that another file of the same name replaces. Default: none.
  mutating func findQueuedBehind(replaceable: Set<String> = []) {
    var taken = Set(jobs.map(\.job))
    let behind = queued.compactMap { file -> QueuedBehind? in
      guard let job = ManifestFileName(Folder.name(of: file))?.job, !taken.insert(job).inserted else { return nil }
      return QueuedBehind(file: file, job: job, replaces: replaceable.contains(file) ? true : nil)
    }
    queued_behind = behind.isEmpty ? nil : behind
  }

  /// Finds the queued manifests that a process has open for writing.
  mutating func findQueuedOpen(_ isOpen: (String) -> Bool) {
    let open = queued.filter(isOpen)
    queued_open = open.isEmpty ? nil : open
  }

  /// Descriptions of queued manifests that wait for a job with deferred entries, possibly as long as `--retry-for`.
  package var waitsForDeferred: [String] {
    let deferring = Dictionary(
      jobs.filter { $0.deferred != nil }.map { ($0.job, $0) }, uniquingKeysWith: { first, _ in first })
    return queued.compactMap { file in
      guard let name = ManifestFileName(Folder.name(of: file))?.job, let job = deferring[name],
        let count = job.deferred
      else { return nil }
      let entries = count.of("deferred entry of the job has", "deferred entries of the job have")
      return "\(file) waits until \(entries) ended"
        + (job.deferred_until.map { "; the next is tried again at \($0)" } ?? "")
    }
  }
}

extension Status.Queues {
  /// The stage of an entry's two operations. Each entry counts once, even while its operations run on.
  enum Stage {
    case waitsForDownload, downloads, waitsForFiltration, filters, hasEnded

    /// Operations only go from waiting to executing to finished. An operation that is not executing, and after that not
    /// finished, was therefore waiting at the first check.
    init(download: Operation, filtration: Operation) {
      if filtration.isExecuting {
        self = .filters
      } else if filtration.isFinished {
        self = .hasEnded
      } else if download.isExecuting {
        self = .downloads
      } else {
        self = download.isFinished ? .waitsForFiltration : .waitsForDownload
      }
    }
  }
}

extension PendingOperations {
  var status: Status.Queues {
    var counts: [Status.Queues.Stage: Int] = [:]
    for chain in inProgress.values {
      counts[Status.Queues.Stage(download: chain.download, filtration: chain.filtration), default: 0] += 1
    }
    return Status.Queues(
      suspended: isSuspended,
      download: Status.Queue(
        limit: downloadQueue.maxConcurrentOperationCount, running: counts[.downloads, default: 0],
        waiting: counts[.waitsForDownload, default: 0], slow: room.slow.count > 0 ? room.slow.count : nil),
      filtration: Status.Queue(
        limit: filtrationQueue.maxConcurrentOperationCount, running: counts[.filters, default: 0],
        waiting: counts[.waitsForFiltration, default: 0]))
  }
}

extension Status {
  mutating func addOperations(of pending: PendingOperations) {
    let running = pending.inProgress.values.compactMap { chain -> (record: PhotoRecord, state: String, began: Int)? in
      let record = chain.download.record
      let state: String? =
        switch Queues.Stage(download: chain.download, filtration: chain.filtration) {
        case .downloads: "downloading"
        case .filters: "filtering"
        case .waitsForDownload, .waitsForFiltration, .hasEnded: nil
        }
      // A download that waits for another one of the same request has not begun.
      guard let state, let began = record.snapshot.stageBegan else { return nil }
      return (record, state, began)
    }
    guard !running.isEmpty else { return }
    let origin = Clock.wallMilliseconds - Clock.monotonicMilliseconds
    let first = running.sorted { ($0.began, $0.record.entry.position) < ($1.began, $1.record.entry.position) }
    operations = first.prefix(Self.operationLimit).map { record, state, began in
      // Rounded to seconds, so that the text stays the same.
      Operation(
        job: record.run.job, name: record.entry.shownName, variant: record.entry.variant, state: state,
        since: JSONValue.time((origin + began) / 1000 * 1000).string ?? "")
    }
    operations_total = running.count
  }
}

extension DecodingPool {
  /// The workers; nil when this process decodes.
  var status: Status.Workers? {
    guard hasWorkers else { return nil }
    let counts = counts
    return Status.Workers(
      running: counts.running, started: counts.started, lost: counts.lost, confinement: counts.confinement.names)
  }
}
