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
    /// An `ImageFiltration`, or, where a list of entries is downloaded, a `ListKeeping`.
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
  private var occupancy = Array(repeating: AdmissionWindow.Occupancy(), count: Entry.Priority.allCases.count)
  private var engine: TransferEngine
  private var configuration: Configuration
  private var limits: ImageLimits
  private var window: AdmissionWindow
  private let downloadBegan: @Sendable (PhotoRecord, Int?) -> Void
  private let hostAnswered: @Sendable (PhotoRecord) -> Void

  /// How many downloads run at once, but for those of hosts that do not answer.
  private var places: DownloadWindow
  private var silent = 0

  /// The limits of the queues, unless operations go on one by one.
  private var downloads: Int
  private var isOneByOne = false

  /// The downloads that are too slow, and when they are to be looked for again.
  private var slow: SlowDownloads
  private var nextPaceTime = 0
  private let downloadEnded: @Sendable (PhotoRecord) -> Void
  private let ended: @Sendable (PhotoRecord) -> Void

  /// - Parameters:
  ///   - decoding: What filtrations decode with. Default: what the configuration says, without a journal.
  ///   - downloadBegan: Called on any thread when the download of an entry that was started so begins its request, with the
  ///     time in milliseconds, or makes none because it waits for another.
  ///   - hostAnswered: Called on the engine's thread when the first answer to an entry that was started so begins to arrive.
  ///   - downloadEnded: Called on any thread when the download of an entry has ended, whether it succeeded or not.
  ///   - ended: Called on any thread when both operations of an entry have finished, after `downloadEnded`.
  package init(
    configuration: Configuration, engine: TransferEngine, decoding: DecodingAccess? = nil,
    downloadBegan: @escaping @Sendable (PhotoRecord, Int?) -> Void = { _, _ in },
    hostAnswered: @escaping @Sendable (PhotoRecord) -> Void = { _ in },
    downloadEnded: @escaping @Sendable (PhotoRecord) -> Void, ended: @escaping @Sendable (PhotoRecord) -> Void
  ) {
    self.engine = engine
    self.decoding = decoding ?? DecodingAccess(pool: DecodingPool(configuration))
    self.downloadBegan = downloadBegan
    self.hostAnswered = hostAnswered
    self.downloadEnded = downloadEnded
    self.ended = ended
    self.configuration = configuration
    limits = ImageLimits(maxPixels: configuration.maxPixels)
    places = configuration.downloads.window
    downloads = places.limit
    window = AdmissionWindow(downloads, configuration.filtrations)
    slow = SlowDownloads(limit: configuration.slowLimit)
    downloadQueue.name = "Download queue"
    downloadQueue.underlyingQueue = downloadStarts
    filtrationQueue.name = "Filtration queue"
    configure(configuration, engine: engine)
  }

  /// Sets the limits, for entries that start from now on.
  package func configure(_ configuration: Configuration, engine: TransferEngine) {
    if configuration.downloads != self.configuration.downloads { places = configuration.downloads.window }
    (self.engine, self.configuration) = (engine, configuration)
    limits.maxPixels = configuration.maxPixels
    limits.minPixels = configuration.minPixels ?? 0
    slow.limit = configuration.slowLimit
    decoding.pool.configure(configuration)
    setPlaces()
  }

  /// Adjusts the download queue and the window to the number of places.
  /// - Parameter silent: How many downloads do nothing but wait for hosts that do not answer: others run beside them, unless
  ///   the number is fixed.
  package func adjustPlaces(silent: Int) {
    self.silent = places.isFixed ? 0 : min(silent, max(0, DownloadWindow.most - places.limit))
    if downloadLimitNow != downloads { setPlaces() }
  }

  /// How many downloads may run: as many as there are places, and beside them those that are silent or slow.
  private var downloadLimitNow: Int {
    places.limit + silent
      + (slow.count > 0 ? slow.beside(places: places.limit, now: Clock.monotonicMilliseconds) : 0)
  }

  private func setPlaces() {
    downloads = downloadLimitNow
    window = AdmissionWindow(downloads, configuration.filtrations)
    downloadQueue.maxConcurrentOperationCount = isOneByOne ? 1 : downloads
    filtrationQueue.maxConcurrentOperationCount = isOneByOne ? 1 : configuration.filtrations
  }

  // MARK: Slow downloads

  /// When `findSlowDownloads` is to be called, in milliseconds of the monotonic clock; nil while nothing is downloaded.
  package var nextPaceCheck: Int? {
    slow.limit.bytesPerSecond > 0 && occupancy.contains { $0.downloads > 0 } ? nextPaceTime : nil
  }

  package var slowDownloads: Int { slow.count }

  /// Whether the download of an entry is too slow.
  package func isSlow(_ id: PhotoRecord.ID) -> Bool { inProgress[id]?.isSlow == true }

  /// Finds the downloads that have been too slow for a while, when that is due. Only the time counts in which bytes could
  /// arrive. What waits for slow ones, as the same request or for a slot of their host, is slow, too.
  /// - Returns: Those that are since this was last called.
  package func findSlowDownloads(now: Int) -> [PhotoRecord] {
    guard let due = nextPaceCheck, due <= now else { return [] }
    nextPaceTime = now + max(20, slow.limit.period / 12)
    var found: [PhotoRecord] = []
    for index in inProgress.values.indices {
      let chain = inProgress.values[index]
      guard chain.isDownloading, chain.download.isExecuting, !chain.download.progress.isLimited else { continue }
      let progress = chain.download.progress
      inProgress.values[index].pace.received(
        progress.bytes, now: progress.flowTime(now: now), limit: slow.limit)
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
    slow.began()
    inProgress.values[index].isSlow = true
    return inProgress.values[index].download.record
  }

  /// Measures how fast the download of an entry was that succeeded.
  package func measureSpeed(_ id: PhotoRecord.ID, bytes: Int) {
    let now = Clock.monotonicMilliseconds
    guard let progress = inProgress[id]?.download.progress else { return }
    slow.succeeded(bytes: bytes, milliseconds: progress.flowTime(now: now), now: now)
  }

  // MARK: Room

  /// Records that entries were started as long as they could be. Entries of a higher priority may have room even then.
  package func startedAll() { places.started(isFull: occupancy.reduce(0) { $0 + $1.downloads } >= window.downloads) }

  /// The lowest priority of which an entry may be admitted, as `Entry.Priority.rank`; nil when there is no room at all.
  /// - Parameter undelivered: How many entries hold files without being in the queues.
  package func lowestPriorityWithRoom(besides undelivered: Int) -> Int? {
    var higher = AdmissionWindow.Occupancy()
    var lowest: Int?
    for (rank, occupancy) in occupancy.enumerated() {
      higher.entries += occupancy.entries
      higher.downloads += occupancy.downloads
      higher.bytes += occupancy.bytes
      guard window.hasRoom(higher, held: inProgress.count + undelivered) else { break }
      lowest = rank
    }
    return lowest
  }

  /// How many downloads and filtrations may run, unless operations go on one by one.
  package var placeLimits: (downloads: Int, filtrations: Int) { (downloads, configuration.filtrations) }

  package var isIdle: Bool { inProgress.values.allSatisfy { !$0.download.isExecuting && !$0.filtration.isExecuting } }

  // MARK: Entries

  /// Starts an entry's chain, download → filter.
  /// - Parameters:
  ///   - earlier: What earlier runs of the job delivered.
  ///   - reportsBeginning: Whether `downloadBegan` is called.
  ///   - reportsAnswer: Whether `hostAnswered` is called.
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
    let list = state.map { ListKeeping(record, cache: cache, state: $0, minFree: configuration.minFree) }
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
      began: reportsBeginning ? downloadBegan : nil, answered: reportsAnswer ? hostAnswered : nil
    ) {
      [downloadEnded, sharedFiltrations, weak picture] record in
      if let filtration = picture { sharedFiltrations.join(filtration) }
      downloadEnded(record)
    }
    filtration.addDependency(download)
    filtration.completionBlock = { [ended] in ended(record) }
    inProgress[record.id] = Chain(download: download, filtration: filtration)
    // What is there already is hardly made again, and what is copied is not decoded.
    if !record.entry.isCopied, !earlier.mayBeReused || earlier.outputs.isEmpty {
      decoding.pool.prepare(for: inProgress.count)
    }
    let rank = record.entry.priority.rank
    occupancy[rank].entries += 1
    occupancy[rank].downloads += 1
    downloadQueue.addOperation(download)
    filtrationQueue.addOperation(filtration)
  }

  /// Measures how fast downloads end.
  /// - Parameters:
  ///   - isFailure: Whether it failed in a way that more downloads at once may cause.
  ///   - isSuspect: Whether the network may be down.
  package func measureEnd(isFailure: Bool, isSuspect: Bool) {
    places.ended(isFailure: isFailure, isSuspect: isSuspect, now: Clock.monotonicMilliseconds)
  }

  package func downloadHasEnded(_ record: PhotoRecord) {
    guard inProgress[record.id]?.isDownloading == true else { return }
    let bytes = record.source?.bytes ?? 0
    inProgress[record.id]?.isDownloading = false
    if isSlow(record.id) { slow.ended() }
    inProgress[record.id]?.bytes = bytes
    let rank = record.entry.priority.rank
    occupancy[rank].downloads -= 1
    occupancy[rank].bytes += bytes
  }

  /// Forgets an entry whose operations have finished.
  package func remove(_ record: PhotoRecord) {
    downloadHasEnded(record)
    guard let chain = inProgress.removeValue(forKey: record.id) else { return }
    let rank = record.entry.priority.rank
    occupancy[rank].entries -= 1
    occupancy[rank].bytes -= chain.bytes
  }

  // MARK: Suspending and cancelling

  /// Whether operations start only one by one, or not at all.
  package private(set) var isSuspended = false

  /// Running operations finish, none starts.
  package func suspendAll() {
    places.restart()
    isSuspended = true
    downloadQueue.isSuspended = true
    filtrationQueue.isSuspended = true
    setOneByOne(false)
  }

  package func resumeAll() {
    // What ended in between says nothing.
    if isSuspended { places.restart() }
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
    guard isOn != isOneByOne else { return }
    isOneByOne = isOn
    setPlaces()
  }

  /// Cancels the entries that have not begun and, in suspended queues, those that wait for their filtration.
  package func cancelWaiting() {
    for chain in inProgress.values where !hasBegun(chain) { chain.download.record.cancel() }
  }

  /// Whether an entry has begun and, in suspended queues, does not wait for its filtration.
  private func hasBegun(_ chain: Chain) -> Bool {
    let isExecuting = chain.download.isExecuting || chain.filtration.isExecuting
    return isExecuting || !isSuspended && chain.download.isFinished
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

extension AdmissionWindow {
  fileprivate init(_ downloads: Int, _ filtrations: Int) {
    self.init(downloads: downloads, filtrations: filtrations, descriptors: DescriptorLimit.current)
  }
}

extension Configuration {
  /// Downloads that are slower leave their places to others.
  fileprivate var slowLimit: DownloadPace.Limit {
    DownloadPace.Limit(bytesPerSecond: 10 * min(transfer.lowSpeed, 1 << 40), period: max(1, Int(slowAfter * 1000)))
  }
}
