import Foundation
import Synchronization
import Transfer

/// The first operation of an entry: its source, streamed into a file in staging.
///
/// Asynchronous: it occupies a place in the download queue, but no thread; the engine's thread finishes it.
final class ImageDownloader: Operation, @unchecked Sendable {  // what changes is in the record and in a Mutex
  private enum Phase { case waiting, executing, finished }

  private struct Live {
    var phase = Phase.waiting
    var transfer: TransferID?
  }

  let record: PhotoRecord
  private let engine: TransferEngine
  private let staging: Staging
  private let ended: @Sendable (PhotoRecord) -> Void
  private let live = Mutex(Live())

  /// - Parameter ended: Called on any thread, before the operation finishes.
  init(
    _ record: PhotoRecord, engine: TransferEngine, staging: Staging, ended: @escaping @Sendable (PhotoRecord) -> Void
  ) {
    self.record = record
    self.engine = engine
    self.staging = staging
    self.ended = ended
    super.init()
    name = "download \(record.entry.name)"
    queuePriority = record.entry.priority.queuePriority
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { live.withLock { $0.phase == .executing } }
  override var isFinished: Bool { live.withLock { $0.phase == .finished } }

  override func start() {
    enter(.executing)
    guard !isCancelled, record.state == .new else { return finish() }
    record.beginDownload()
    do {
      let location = try SourceLocation(parsing: record.entry.url)
      let file = try staging.create(staging.download(record.entry.position))
      transfer(location, to: file)
    } catch let error as TransferError {
      record.fail(EntryFailure(error))
      finish()
    } catch let error as SystemError {
      record.fail(EntryFailure(error))
      finish()
    } catch {
      record.fail(EntryFailure(stage: .download, code: "network", message: "\(error)"))
      finish()
    }
  }

  private func transfer(_ location: SourceLocation, to file: OpenFile) {
    let began = ContinuousClock.now
    let request = TransferRequest(location: location, destination: file.descriptor, checksum: record.entry.checksum)
    let transfer = engine.start(request) { [self] result in
      let time = began.duration(to: .now)
      record.usedHost(JobWork.Usage(result, taking: time))
      withExtendedLifetime(file) {
        switch result {
        case .success(let outcome):
          record.downloaded(PhotoRecord.Source(outcome), taking: time)
        case .failure(let error) where error.code == .cancelled: record.cancel()
        case .failure(let error): record.fail(EntryFailure(error))
        }
      }
      if record.state != .downloaded { staging.remove(staging.download(record.entry.position)) }
      finish()
    }
    live.withLock { $0.transfer = transfer }
    if isCancelled { engine.cancel(transfer) }
  }

  override func cancel() {
    super.cancel()
    if let transfer = live.withLock({ $0.transfer }) { engine.cancel(transfer) }
  }

  private func finish() {
    ended(record)
    enter(.finished)
  }

  /// The queue learns of a change by key-value observing.
  private func enter(_ phase: Phase) {
    let key = phase == .executing ? "isExecuting" : "isFinished"
    willChangeValue(forKey: key)
    live.withLock { $0.phase = phase }
    didChangeValue(forKey: key)
  }
}

extension PhotoRecord.Source {
  fileprivate init(_ outcome: TransferOutcome) {
    self.init(
      finalURL: outcome.finalURL, httpStatus: outcome.httpStatus, bytes: outcome.bytes, sha256: outcome.sha256)
  }
}

extension JobWork.Usage {
  fileprivate init(_ result: Result<TransferOutcome, TransferError>, taking time: Duration) {
    milliseconds = Int(time.milliseconds)
    switch result {
    case .success(let outcome): (bytes, requests) = (outcome.bytes, outcome.requests)
    case .failure(let error): (bytes, requests) = (error.bytes, error.requests)
    }
  }
}

extension Entry.Priority {
  /// The same priority among the operations of a queue.
  var queuePriority: Operation.QueuePriority {
    switch self {
    case .veryHigh: .veryHigh
    case .high: .high
    case .normal: .normal
    case .low: .low
    case .veryLow: .veryLow
    }
  }
}
