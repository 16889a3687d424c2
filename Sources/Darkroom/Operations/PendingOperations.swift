import Foundation
import Imaging
import Transfer

/// The two queues, and the operations in progress by the entry that they work for.
///
/// It belongs to the thread that made it; operations report to it through `ended`.
final class PendingOperations {
  /// Downloads run here: limited by places, not by processors.
  let downloadQueue = OperationQueue()

  /// Downloads start here, on a thread of its own: those of the common pool are as many as processors, and filtrations
  /// may occupy them all. The queue does not retain it.
  private let downloadStarts = DispatchQueue(label: "Download queue")

  /// Downloads end here, in the order of their transfers.
  private let downloadEndings = DispatchQueue(label: "Ends of downloads")

  /// Filtrations run here, each on a processor of its own.
  let filtrationQueue = OperationQueue()

  /// The operations of one entry.
  struct Chain {
    let download: ImageDownloader
    let filtration: ImageFiltration
  }

  let shared = SharedDownloads()
  private let sharedFiltrations = SharedFiltrations()
  private(set) var inProgress: [Int: Chain] = [:]
  private var engine: TransferEngine
  private var limits: ImageLimits
  private var metadata: MetadataPolicy
  private var isRefreshing: Bool
  private var maxBytes: Int
  private var window: AdmissionWindow
  private let downloaded: @Sendable (PhotoRecord) -> Void
  private let ended: @Sendable (PhotoRecord) -> Void

  /// - Parameters:
  ///   - downloaded: Called on any thread when the download of an entry has ended, well or not.
  ///   - ended: Called on any thread when both operations of an entry have finished, after `downloaded`.
  init(
    configuration: Configuration, engine: TransferEngine,
    downloaded: @escaping @Sendable (PhotoRecord) -> Void, ended: @escaping @Sendable (PhotoRecord) -> Void
  ) {
    self.engine = engine
    self.downloaded = downloaded
    self.ended = ended
    limits = ImageLimits(maxPixels: configuration.maxPixels)
    metadata = configuration.output.metadata
    isRefreshing = configuration.refresh
    maxBytes = configuration.transfer.maxBytes
    window = AdmissionWindow(downloads: configuration.downloads, filtrations: configuration.filtrations)
    downloadQueue.name = "Download queue"
    downloadQueue.underlyingQueue = downloadStarts
    filtrationQueue.name = "Filtration queue"
    configure(configuration, engine: engine)
  }

  /// Sets the limits, for entries that start from now on.
  func configure(_ configuration: Configuration, engine: TransferEngine) {
    self.engine = engine
    limits.maxPixels = configuration.maxPixels
    metadata = configuration.output.metadata
    isRefreshing = configuration.refresh
    maxBytes = configuration.transfer.maxBytes
    window = AdmissionWindow(downloads: configuration.downloads, filtrations: configuration.filtrations)
    downloadQueue.maxConcurrentOperationCount = configuration.downloads
    filtrationQueue.maxConcurrentOperationCount = configuration.filtrations
  }

  /// Whether another entry may be admitted.
  /// - Parameter undelivered: How many entries hold files without being in the queues.
  func hasRoom(besides undelivered: Int) -> Bool {
    window.hasRoom(entries: inProgress.count, undelivered: undelivered, bytesWaiting: { self.bytesWaiting })
  }

  /// Whether no operation runs.
  var isIdle: Bool { inProgress.values.allSatisfy { !$0.download.isExecuting && !$0.filtration.isExecuting } }

  /// Bytes that are downloaded and not yet filtered.
  private var bytesWaiting: Int {
    inProgress.values.reduce(0) { sum, chain in
      let live = chain.download.record.snapshot
      return sum + (live.state == .downloaded ? live.source?.bytes ?? 0 : 0)
    }
  }

  /// Starts an entry's chain, download → filter.
  /// - Parameter reuse: What earlier runs of the job delivered.
  func start(_ record: PhotoRecord, staging: Staging, cache: DownloadCache? = nil, reuse: Reuse? = nil) {
    let results = ResultAccess(cache: cache, reuse: isRefreshing ? nil : reuse, shared: sharedFiltrations)
    let filtration = ImageFiltration(record, staging: staging, access: results, limits: limits, metadata: metadata)
    let access = CacheAccess(cache: cache, isRefreshing: isRefreshing, maxBytes: maxBytes, runID: staging.runID)
    let download = ImageDownloader(
      record, engine: engine, staging: staging, access: access, shared: shared, endings: downloadEndings
    ) {
      [downloaded, sharedFiltrations, weak filtration] record in
      if let filtration { sharedFiltrations.join(filtration) }
      downloaded(record)
    }
    filtration.addDependency(download)
    filtration.completionBlock = { [ended] in ended(record) }
    inProgress[record.entry.position] = Chain(download: download, filtration: filtration)
    downloadQueue.addOperation(download)
    filtrationQueue.addOperation(filtration)
  }

  /// Forgets an entry whose operations have finished.
  func remove(_ record: PhotoRecord) {
    inProgress[record.entry.position] = nil
  }

  var isSuspended: Bool { downloadQueue.isSuspended }

  /// Running operations finish, none starts.
  func suspendAll() {
    downloadQueue.isSuspended = true
    filtrationQueue.isSuspended = true
  }

  func resumeAll() {
    downloadQueue.isSuspended = false
    filtrationQueue.isSuspended = false
  }

  /// Cancels the entries that have not begun and, in suspended queues, those that wait for their filtration.
  func cancelWaiting() {
    for chain in inProgress.values {
      let hasBegun = chain.download.isExecuting || chain.download.isFinished
      if !hasBegun || isSuspended && !chain.download.isExecuting && !chain.filtration.isExecuting {
        chain.download.record.cancel()
      }
    }
  }

  /// Waits until what has been transferred has ended, too.
  func waitForEndings() { downloadEndings.sync {} }

  /// Cancels everything, running or not.
  func cancelAll() {
    for chain in inProgress.values {
      chain.download.record.cancel()
      chain.download.cancel()
      // A filtration that has not begun sees its record. To cancel it would end it before its download has.
      if chain.filtration.isExecuting { chain.filtration.cancel() }
    }
  }
}
