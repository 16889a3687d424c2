import Foundation
import Imaging
import Model
import Scheduling
import System
import Transfer

/// The two queues, and the operations in progress by the record that they work for.
///
/// It belongs to the thread that made it; operations report to it through `ended`.
package final class PendingOperations {
  /// Downloads run here: limited by places, not by processors.
  package let downloadQueue = OperationQueue()

  /// Downloads start here, on a thread of its own: those of the common pool are as many as processors, and filtrations
  /// may occupy them all. The queue does not retain it.
  private let downloadStarts = DispatchQueue(label: "Download queue")

  /// Downloads end here, in the order of their transfers.
  private let downloadEndings = DispatchQueue(label: "Ends of downloads")

  /// Filtrations run here, each on a processor of its own.
  package let filtrationQueue = OperationQueue()

  /// The operations of one entry.
  package struct Chain {
    package let download: ImageDownloader
    /// An `ImageFiltration`, or, where a list of entries is downloaded, a `StoreList`.
    package let filtration: Operation
    package fileprivate(set) var isDownloading = true
    /// Downloaded and not yet filtered.
    fileprivate var bytes = 0
    fileprivate var pace = DownloadPace(began: 0)
    /// Whether it is too slow, or waits for others that are.
    fileprivate var isSlow = false

    /// Whether one of its operations is still to begin and the other does not run. Of one that has ended it is known.
    fileprivate var waits: Bool {
      if download.isFinished { return !isDownloading && !filtration.isExecuting && !filtration.isFinished }
      return !download.isExecuting
    }
  }

  /// What filtrations decode with.
  package let decoding: DecodingAccess

  let shared = SharedDownloads()
  private let sharedFiltrations = SharedFiltrations()
  private let resultFolders = ResultFolders()
  package private(set) var inProgress: [PhotoRecord.ID: Chain] = [:]
  private var engine: TransferEngine
  private var configuration: Configuration
  private var limits = ImageLimits()
  package var room: QueueRoom
  private let report: @Sendable (Event) -> Void

  /// What has happened to an entry's operations. `downloadBegan` and `hostAnswered` are reported on request only.
  package enum Event: Sendable {
    /// Its download begins its request, at a time in milliseconds; nil: it makes none, because it waits for another.
    case downloadBegan(PhotoRecord, at: Int?)
    /// The first answer begins to arrive.
    case hostAnswered(PhotoRecord)
    /// Its download has ended, whether it succeeded or not.
    case downloadEnded(PhotoRecord)
    /// Both operations have finished, after `downloadEnded`.
    case operationsEnded(PhotoRecord)
  }

  /// - Parameters:
  ///   - decoding: What filtrations decode with. Default: what the configuration says, without a journal.
  ///   - report: Called on any thread.
  package init(
    configuration: Configuration, engine: TransferEngine, decoding: DecodingAccess? = nil,
    report: @escaping @Sendable (Event) -> Void
  ) {
    self.engine = engine
    self.decoding = decoding ?? DecodingAccess(pool: DecodingPool(configuration))
    self.report = report
    self.configuration = configuration
    room = QueueRoom(
      window: configuration.downloads.window, filtrations: configuration.filtrations, slow: configuration.slowLimit,
      descriptors: DescriptorLimit.current)
    downloadQueue.name = "Download queue"
    downloadQueue.underlyingQueue = downloadStarts
    filtrationQueue.name = "Filtration queue"
    configure(configuration, engine: engine)
  }

  /// Sets the limits, for entries that start from now on.
  package func configure(_ configuration: Configuration, engine: TransferEngine) {
    if configuration.downloads != self.configuration.downloads { room.window = configuration.downloads.window }
    room.limits.filtrations = configuration.filtrations
    room.slow.limit = configuration.slowLimit
    (self.engine, self.configuration) = (engine, configuration)
    limits.maxPixels = configuration.maxPixels
    limits.minPixels = configuration.minPixels ?? 0
    decoding.pool.configure(configuration)
    updateLimits()
  }

  /// Adjusts the limits to what was measured.
  /// - Parameter silent: How many downloads do nothing but wait for hosts that do not answer.
  package func adjustLimits(silent: Int) {
    if room.update(silent: silent, now: Clock.monotonicMilliseconds) { updateLimits() }
  }

  private func updateLimits() {
    room.update(now: Clock.monotonicMilliseconds)
    (downloadQueue.maxConcurrentOperationCount, filtrationQueue.maxConcurrentOperationCount) =
      room.isOneByOne ? (1, 1) : room.limits
  }

  // MARK: Slow downloads

  /// Whether the download of an entry is too slow.
  package func isSlow(_ id: PhotoRecord.ID) -> Bool { inProgress[id]?.isSlow == true }

  /// Finds the downloads that have been too slow for a while, when that is due. Only the time counts in which bytes could
  /// arrive. What waits for slow ones, as the same request or for a slot of their host, is slow, too.
  /// - Returns: Those that are since this was last called.
  package func findSlowDownloads(now: Int) -> [PhotoRecord] {
    guard let limit = room.beginPaceCheck(now: now) else { return [] }
    var found: [PhotoRecord] = []
    for index in inProgress.values.indices {
      let chain = inProgress.values[index]
      guard chain.isDownloading, chain.download.isExecuting, !chain.download.progress.isLimited else { continue }
      let progress = chain.download.progress
      inProgress.values[index].pace.received(progress.bytes, now: progress.flowTime(now: now), limit: limit)
      let isSlow = inProgress.values[index].pace.isSlow
      if isSlow, !chain.pace.isSlow { chain.download.leaveSlot() }
      if isSlow || progress.isBehindSlow, !chain.isSlow { found.append(setSlow(index)) }
    }
    for index in inProgress.values.indices {
      let chain = inProgress.values[index]
      guard chain.isDownloading, !chain.isSlow, let leader = chain.download.leader, isSlow(leader) else { continue }
      found.append(setSlow(index))
    }
    return found
  }

  private func setSlow(_ index: Dictionary<PhotoRecord.ID, Chain>.Values.Index) -> PhotoRecord {
    room.slow.began()
    inProgress.values[index].isSlow = true
    return inProgress.values[index].download.record
  }

  /// Measures how fast the download of an entry was that succeeded.
  package func measureSpeed(_ id: PhotoRecord.ID, bytes: Int) {
    let now = Clock.monotonicMilliseconds
    guard let progress = inProgress[id]?.download.progress else { return }
    room.slow.succeeded(bytes: bytes, milliseconds: progress.flowTime(now: now), now: now)
  }

  /// The lowest priority of which an entry may be admitted, as `Entry.Priority.rank`; nil when there is no room at all.
  /// - Parameter undelivered: How many entries hold files without being in the queues.
  package func lowestPriorityWithRoom(besides undelivered: Int) -> Int? {
    room.lowestPriority(held: inProgress.count + undelivered)
  }

  package var isIdle: Bool { inProgress.values.allSatisfy { !$0.download.isExecuting && !$0.filtration.isExecuting } }

  // MARK: Entries

  /// Starts an entry's chain, download → filter.
  /// - Parameters:
  ///   - earlier: What earlier runs of the job delivered.
  ///   - reportsBeginning: Whether `downloadBegan` is reported.
  ///   - reportsAnswer: Whether `hostAnswered` is reported.
  ///   - state: Where what is downloaded is kept, when it is a list of entries and no picture.
  package func start(
    _ record: PhotoRecord, cache: DownloadCache? = nil, earlier: EarlierResults? = nil, reportsBeginning: Bool = false,
    reportsAnswer: Bool = false, keepingIn state: StateFolder? = nil
  ) {
    var earlier = earlier ?? EarlierResults(folder: record.run.folder, outputs: [])
    let isRefreshing = configuration.refresh || record.run.isRefreshing
    let (metadata, keepsOriginals) = (configuration.output.metadata, configuration.keepOriginals)
    earlier.mayBeReused = !isRefreshing
    earlier.folders = resultFolders
    let results = ResultAccess(cache: cache, earlier: earlier, shared: sharedFiltrations)
    let picture =
      state == nil
      ? ImageFiltration(
        record, access: results, decoding: decoding, limits: limits, metadata: metadata, keepsOriginals: keepsOriginals,
        makesPreviews: configuration.gallery == .on)
      : nil
    let list = state.map { StoreList(record, cache: cache, state: $0, minFree: configuration.minFree) }
    guard let filtration: Operation = picture ?? list else { return }
    let access = CacheAccess(
      cache: cache, isRefreshing: isRefreshing, maxBytes: configuration.transfer.maxBytes, runID: record.run.runID,
      since: record.run.accepted)
    let download = ImageDownloader(
      record, engine: engine, access: access,
      delivered: { [earlier] request in
        record.needsBytes
          ? nil : earlier.source(of: record.entry, by: request, metadata: metadata, keepsOriginals: keepsOriginals)
      }, shared: shared, rules: configuration.hosts, endings: downloadEndings,
      report: report, reportsBeginning: reportsBeginning, reportsAnswer: reportsAnswer
    ) {
      [report, sharedFiltrations, weak picture] record in
      if let filtration = picture { sharedFiltrations.join(filtration) }
      report(.downloadEnded(record))
    }
    filtration.addDependency(download)
    filtration.completionBlock = { [report] in report(.operationsEnded(record)) }
    inProgress[record.id] = Chain(download: download, filtration: filtration)
    // What is there already is hardly made again, and what is copied is not decoded.
    if !record.entry.isCopied, !earlier.mayBeReused || earlier.outputs.isEmpty {
      decoding.pool.prepare(for: inProgress.count)
    }
    room.started(rank: record.entry.priority.rank)
    downloadQueue.addOperation(download)
    filtrationQueue.addOperation(filtration)
  }

  package func downloadHasEnded(_ record: PhotoRecord) {
    guard inProgress[record.id]?.isDownloading == true else { return }
    let bytes = record.source?.bytes ?? 0
    inProgress[record.id]?.isDownloading = false
    inProgress[record.id]?.bytes = bytes
    room.downloadEnded(rank: record.entry.priority.rank, bytes: bytes, wasSlow: isSlow(record.id))
  }

  /// Forgets an entry whose operations have finished.
  package func remove(_ record: PhotoRecord) {
    downloadHasEnded(record)
    guard let chain = inProgress.removeValue(forKey: record.id) else { return }
    room.remove(rank: record.entry.priority.rank, bytes: chain.bytes)
  }

  // MARK: Suspending and cancelling

  /// Whether operations start only one by one, or not at all.
  package private(set) var isSuspended = false

  /// Running operations finish, none starts.
  package func suspendAll() {
    room.window.restart()
    isSuspended = true
    downloadQueue.isSuspended = true
    filtrationQueue.isSuspended = true
    setOneByOne(false)
  }

  package func resumeAll() {
    // What ended in between says nothing.
    if isSuspended { room.window.restart() }
    isSuspended = false
    setOneByOne(false)
    downloadQueue.isSuspended = false
    filtrationQueue.isSuspended = false
  }

  /// Starts a single operation in the suspended queues once nothing runs: a filtration, if one waits. To be called again
  /// and again; `suspendAll` ends it.
  package func continueOneByOne() {
    setOneByOne(true)
    let isIdle = isIdle
    let filters = inProgress.values.contains { !$0.isDownloading }
    downloadQueue.isSuspended = !isIdle || filters
    filtrationQueue.isSuspended = !isIdle || !filters
  }

  private func setOneByOne(_ isOn: Bool) {
    guard isOn != room.isOneByOne else { return }
    room.isOneByOne = isOn
    updateLimits()
  }

  /// Cancels the entries that have not begun and, in suspended queues, those that wait for their filtration.
  package func cancelWaiting() {
    for chain in inProgress.values where !chain.download.isExecuting && !chain.filtration.isExecuting {
      if isSuspended || !chain.download.isFinished { chain.download.record.cancel() }
    }
  }

  /// The entries of a run that have begun, of those that are meant, those included that wait for their filtration. The others do
  /// not begin any more.
  /// - Parameter isMeant: Tells by their positions which.
  package func keepBegun(run: Int, where isMeant: (Int) -> Bool) -> Set<Int> {
    let kept = inProgress.filter { id, chain in
      id.run == run && isMeant(id.position) && !chain.download.record.cancelUnbegun()
    }
    return Set(kept.map(\.key.position))
  }

  /// Cancels entries of a run, running or not.
  /// - Parameter isMeant: Tells by their positions which.
  package func cancel(run: Int, where isMeant: (Int) -> Bool) {
    cancel(inProgress.filter { $0.key.run == run && isMeant($0.key.position) }.map { $0.value })
  }

  package func isInProgress(run: Int) -> Bool { inProgress.keys.contains { $0.run == run } }

  /// Forgets the entries of a run that have failed or were cancelled and wait for an operation to begin, which then does
  /// nothing: in a queue that is suspended it does not begin.
  package func takeIdle(run: Int) -> [PhotoRecord] {
    let idle = inProgress.values.filter { chain in
      guard chain.download.record.id.run == run else { return false }
      switch chain.download.record.state {
      case .new, .downloaded, .filtered: return false
      case .failed, .cancelled: return chain.waits
      }
    }
    for chain in idle { remove(chain.download.record) }
    return idle.map(\.download.record)
  }

  /// Waits until what has been transferred has ended, too.
  package func waitForEndings() { downloadEndings.sync {} }

  /// Cancels everything, running or not.
  package func cancelAll() { cancel(Array(inProgress.values)) }

  private func cancel(_ chains: [Chain]) {
    // First all records: what takes the place of an operation that ends must not begin.
    for chain in chains { chain.download.record.cancel() }
    for chain in chains {
      chain.download.cancel()
      // A filtration that has not begun sees its record. To cancel it would end it before its download has.
      if chain.filtration.isExecuting { chain.filtration.cancel() }
    }
  }
}

extension Configuration {
  /// Downloads that are slower leave their places to others.
  fileprivate var slowLimit: DownloadPace.Limit {
    DownloadPace.Limit(bytesPerSecond: 10 * min(transfer.lowSpeed, 1 << 40), period: max(1, Int(slowAfter * 1000)))
  }
}
