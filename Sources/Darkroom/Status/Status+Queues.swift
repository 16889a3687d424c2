import Foundation
import JSON
import Manifests
import Model
import Operations
import System

extension Status {
  /// Adds the manifests that wait for the next start after those that the process takes.
  /// - Parameter replaceable: The files of live jobs that another file of the same name replaces.
  mutating func addQueuedForNextStart(_ next: (files: [String], total: Int), replaceable: Set<ByteKey>) {
    let files = next.files.prefix(Self.listLimit - queued.count)
    queued += files
    queued_total += next.total
    if !files.isEmpty { queued_next_start = Array(files) }
    findQueuedBehind(replaceable: replaceable.subtracting(files.map(ByteKey.init)))
  }

  /// Finds the queued manifests that wait for another one of the same job.
  /// - Parameter replaceable: The files of live jobs that another file of the same name replaces. Default: none.
  mutating func findQueuedBehind(replaceable: Set<ByteKey> = []) {
    var taken = Set(jobs.map { ByteKey($0.job) })
    let behind = queued.compactMap { file -> QueuedBehind? in
      guard let job = ManifestFileName(Folder.name(of: file))?.job, !taken.insert(ByteKey(job)).inserted else {
        return nil
      }
      return QueuedBehind(file: file, job: job, replaces: replaceable.contains(ByteKey(file)) ? true : nil)
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
      jobs.filter { $0.deferred != nil }.map { (ByteKey($0.job), $0) }, uniquingKeysWith: { first, _ in first })
    return queued.compactMap { file in
      guard let name = ManifestFileName(Folder.name(of: file))?.job, let job = deferring[ByteKey(name)],
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

    fileprivate init(_ chain: PendingOperations.Chain) {
      guard let operations = chain.operations else {
        self = chain.record.stageBegan == nil ? .waitsForDownload : .downloads
        return
      }
      self.init(download: operations.download, filtration: operations.filtration)
    }

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
      counts[Status.Queues.Stage(chain), default: 0] += 1
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

/// An operation that runs.
struct RunningOperation {
  let record: PhotoRecord

  enum State: String {
    case downloading, filtering
    /// The picture waits for its filtration.
    case downloaded
  }

  let state: State

  /// When it began, in milliseconds of `Clock.monotonicMilliseconds`.
  let began: Int

  /// Those that run come first, the oldest of them first.
  var order: (Int, Int, Int) { (state == .downloaded ? 1 : 0, began, record.entry.position) }

  /// When it began, to the second, so that the text stays the same.
  var since: String {
    let origin = Clock.wallMilliseconds - Clock.monotonicMilliseconds
    return JSONValue.time((origin + began) / 1000 * 1000).string ?? ""
  }
}

extension PendingOperations {
  /// The operations that run, those that began first come first, and then the pictures that wait for their filtration. A download
  /// that waits for another one of the same request does not run.
  /// - Parameter run: Default: nil, those of all runs.
  func running(run: Int? = nil) -> [RunningOperation] {
    let running = inProgress.values.compactMap { chain -> RunningOperation? in
      let record = chain.record
      guard run == nil || record.run.number == run else { return nil }
      let state: RunningOperation.State? =
        switch Status.Queues.Stage(chain) {
        case .downloads: .downloading
        case .filters: .filtering
        case .waitsForFiltration: record.state == .downloaded ? .downloaded : nil
        case .waitsForDownload, .hasEnded: nil
        }
      guard let state, let began = record.stageBegan else { return nil }
      return RunningOperation(record: record, state: state, began: began)
    }
    return running.sorted { $0.order < $1.order }
  }
}

extension Status {
  mutating func addOperations(of pending: PendingOperations) {
    let running = pending.running().filter { $0.state != .downloaded }
    guard !running.isEmpty else { return }
    operations = running.prefix(Self.operationLimit).map {
      let entry = $0.record.entry
      return Operation(
        job: $0.record.run.job, name: entry.shownName, variant: entry.variant, state: $0.state.rawValue, since: $0.since
      )
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
