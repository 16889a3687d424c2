import Foundation
import Imaging
import Model
import Scheduling
import System
import Transfer

/// The two queues, and the operations in progress by record.
///
/// Used on the thread that created it. Operations report to it through `report`.
package final class PendingOperations {
  /// The queue of downloads, limited by slots, not by processors.
  package let downloadQueue = OperationQueue()

  /// The queue on which downloads start. It has a thread of its own, since filtrations may occupy all threads of the
  /// common pool. `downloadQueue` does not retain it.
  private let downloadStarts = DispatchQueue(label: "Download queue")

  /// The queue on which downloads are completed, in the order of their transfers.
  let downloadEndings = DispatchQueue(label: "Ends of downloads")

  /// The queue of filtrations, each of which occupies one processor.
  package let filtrationQueue = OperationQueue()

  /// The decoders for filtrations.
  package let decoding: DecodingAccess

  /// The operations whose results others wait for.
  let shared = (downloads: SharedDownloads(), filtrations: SharedFiltrations())
  let unchanged: UnchangedFiles
  private let bodies: BodyMemory
  private let resultFolders = ResultFolders()
  package internal(set) var inProgress: [PhotoRecord.ID: Chain] = [:]
  private var engine: TransferEngine
  private var configuration: Configuration
  private var limits = ImageLimits()
  package var room: QueueRoom

  /// Whether operations start one by one, or not at all.
  package internal(set) var isSuspended = false

  /// Operations that are not in the queues yet: each addition locks a queue and may wake threads.
  private var unqueued: [Operations] = []

  /// The number of entries whose operations are added together, so that the first ones need not wait for many.
  private static let mostUnqueued = 8

  private let report: @Sendable (Event) -> Void

  /// An event of an entry's operations. `downloadBegan` and `hostAnswered` are reported on request only.
  package enum Event: Sendable {
    /// The download begins its request, at a time in milliseconds; nil when it waits for another one instead.
    case downloadBegan(PhotoRecord, at: Int?)
    /// The first answer begins to arrive.
    case hostAnswered(PhotoRecord)
    /// The download has ended, whether or not it succeeded.
    case downloadEnded(PhotoRecord)
    /// Both operations have finished, after `downloadEnded`.
    case operationsEnded(PhotoRecord)
    /// Files were checked: `takeUnchanged` is to be called.
    case filesChecked
  }

  /// - Parameters:
  ///   - decoding: The decoders for filtrations. Default: those of the configuration, without a journal.
  ///   - bodies: The memory for small sources. Default: 16 MiB.
  ///   - report: Called on any thread.
  package init(
    configuration: Configuration, engine: TransferEngine, decoding: DecodingAccess? = nil,
    bodies: BodyMemory = BodyMemory(),
    report: @escaping @Sendable (Event) -> Void
  ) {
    self.engine = engine
    self.decoding = decoding ?? DecodingAccess(pool: DecodingPool(configuration))
    self.bodies = bodies
    self.report = report
    unchanged = UnchangedFiles { report(.filesChecked) }
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

  /// Adjusts the limits to measurements.
  /// - Parameter silent: The number of downloads that only wait for hosts that do not answer.
  package func adjustLimits(silent: Int) {
    if room.update(silent: silent, now: Clock.monotonicMilliseconds) { updateLimits() }
  }

  func updateLimits() {
    room.update(now: Clock.monotonicMilliseconds)
    (downloadQueue.maxConcurrentOperationCount, filtrationQueue.maxConcurrentOperationCount) =
      room.isOneByOne ? (1, 1) : room.limits
  }

  /// The lowest priority at which an entry may be admitted, as `Entry.Priority.rank`; nil when there is no room.
  /// - Parameter undelivered: The number of entries that hold files without being in the queues.
  package func lowestPriorityWithRoom(besides undelivered: Int) -> Int? {
    room.lowestPriority(held: inProgress.count + undelivered)
  }

  /// Whether nothing runs: no operation, and no check of files.
  package var isIdle: Bool {
    unchanged.isIdle && inProgress.values.allSatisfy { $0.operations?.isExecuting != true }
  }

  // MARK: Entries

  /// Starts an entry's chain, download → filter, from the next `addToQueues` on. If it may be a file that is unchanged, that is
  /// found out before the operations are queued, from the next `checkFiles` on.
  /// - Parameters:
  ///   - earlier: The results of earlier runs of the job.
  ///   - reportsBeginning: Whether `downloadBegan` is reported.
  ///   - reportsAnswer: Whether `hostAnswered` is reported.
  ///   - state: The folder in which the download is stored, if it is a list of entries and not a picture.
  package func start(
    _ record: PhotoRecord, cache: DownloadCache? = nil, earlier: EarlierResults? = nil, reportsBeginning: Bool = false,
    reportsAnswer: Bool = false, keepingIn state: StateFolder? = nil
  ) {
    var earlier = earlier ?? EarlierResults(folder: record.run.folder, outputs: [])
    earlier.mayBeReused = !isRefreshing(record)
    earlier.folders = resultFolders
    let plan = Plan(
      cache: cache, earlier: earlier, reportsBeginning: reportsBeginning, reportsAnswer: reportsAnswer, state: state)
    inProgress[record.id] = Chain(record: record, plan: plan)
    room.started(rank: record.entry.priority.rank)
    if state == nil, mayBeUnchanged(record, earlier) {
      unchanged.add(
        UnchangedFiles.Candidate(
          record: record, earlier: earlier, engine: engine, output: configuration.output, limits: limits))
    } else {
      queue(record.id)
    }
  }

  private func isRefreshing(_ record: PhotoRecord) -> Bool { configuration.refresh || record.run.isRefreshing }

  /// Makes the operations of an entry. They are in the queues from the next `addToQueues` on.
  func queue(_ id: PhotoRecord.ID) {
    guard let chain = inProgress[id], let operations = operations(for: chain.record, chain.plan) else { return }
    chain.operations = operations
    // Workers are started ahead only where pictures will be decoded: reused results and copies need no worker.
    let earlier = chain.plan.earlier
    if !chain.record.entry.isCopied, !earlier.mayBeReused || earlier.outputs.isEmpty {
      decoding.pool.prepare(for: inProgress.count)
    }
    unqueued.append(operations)
    if unqueued.count >= Self.mostUnqueued { addToQueues() }
  }

  /// Adds the operations of the entries that were started to the queues.
  package func addToQueues() {
    guard !unqueued.isEmpty else { return }
    downloadQueue.addOperations(unqueued.map(\.download), waitUntilFinished: false)
    filtrationQueue.addOperations(unqueued.map(\.filtration), waitUntilFinished: false)
    unqueued.removeAll(keepingCapacity: true)
  }

  private func operations(for record: PhotoRecord, _ plan: Plan) -> Operations? {
    let (cache, earlier, state) = (plan.cache, plan.earlier, plan.state)
    let (output, keepsOriginals) = (configuration.output, configuration.keepOriginals)
    let results = ResultAccess(cache: cache, earlier: earlier, shared: shared.filtrations)
    let picture =
      state == nil
      ? ImageFiltration(
        record, access: results, decoding: decoding, limits: limits, output: output, keepsOriginals: keepsOriginals,
        makesPreviews: configuration.gallery == .on)
      : nil
    let list = state.map { StoreList(record, cache: cache, state: $0, minFree: configuration.minFree) }
    guard let filtration: Operation = picture ?? list else { return nil }
    let access = CacheAccess(
      cache: cache, isRefreshing: isRefreshing(record) || record.doubtsSource,
      maxBytes: configuration.transfer.maxBytes, runID: record.run.runID, since: record.run.accepted)
    let download = ImageDownloader(
      record, engine: engine, access: access,
      delivered: { [earlier] request in
        record.needsBytes
          ? nil : earlier.source(of: record.entry, by: request, output: output, keepsOriginals: keepsOriginals)
      }, shared: shared.downloads, memory: state == nil && !keepsOriginals ? bodies : nil, rules: configuration.hosts,
      endings: downloadEndings,
      report: report, reportsBeginning: plan.reportsBeginning, reportsAnswer: plan.reportsAnswer
    ) {
      [earlier, report, filtrations = shared.filtrations, weak picture] record in
      if let filtration = picture {
        if keepsOriginals { record.stageOriginal(besides: earlier) }
        filtrations.join(filtration)
      }
      report(.downloadEnded(record))
    }
    filtration.addDependency(download)
    filtration.completionBlock = { [report] in report(.operationsEnded(record)) }
    return Operations(download: download, filtration: filtration)
  }

  // MARK: Unchanged files

  /// Whether nothing may be left to be done for an entry, if its source is a file and unchanged. Variants wait for one another's
  /// sources, and an original that is kept is delivered beside the result.
  private func mayBeUnchanged(_ record: PhotoRecord, _ earlier: EarlierResults) -> Bool {
    let entry = record.entry
    return earlier.mayBeReused && !earlier.outputs.isEmpty && !isSuspended && !room.isOneByOne
      && !configuration.keepOriginals
      && entry.variant == nil && entry.firstRow == nil && record.inherited == nil && !record.needsBytes
      && record.run.mayReadFiles && SourceLocation.origin(of: record.url) == nil
  }

  /// Begins to check the files of entries that were started.
  package func checkFiles() { unchanged.start(limit: room.limits.downloads) }

  /// Takes the entries whose files were checked and are unchanged: they have ended. The operations of the others are added to the
  /// queues.
  package func takeUnchanged() -> [PhotoRecord] {
    defer { addToQueues() }
    return unchanged.takeChecked().filter { record in
      // It may have been removed since.
      guard inProgress[record.id]?.record === record else { return false }
      if record.state == .filtered { return true }
      queue(record.id)
      return false
    }
  }

  /// Lets the queues decide when entries continue whose files are not being checked yet.
  func queueUnchecked() {
    for record in unchanged.takeWaiting() { queue(record.id) }
    addToQueues()
  }

  package func downloadHasEnded(_ record: PhotoRecord) {
    guard let chain = inProgress[record.id], chain.isDownloading else { return }
    chain.isDownloading = false
    chain.bytes = record.source?.bytes ?? 0
    room.downloadEnded(rank: record.entry.priority.rank, bytes: chain.bytes, wasSlow: chain.isSlow)
  }

  /// Removes an entry whose operations have finished.
  package func remove(_ record: PhotoRecord) {
    downloadHasEnded(record)
    guard let chain = inProgress.removeValue(forKey: record.id) else { return }
    // If it was cancelled, its filtration may stay in a suspended queue.
    record.keepBytes(nil)
    room.remove(rank: record.entry.priority.rank, bytes: chain.bytes)
  }
}
