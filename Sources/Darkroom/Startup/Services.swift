import Delivery
import Gallery
import JobIndex
import Ledger
import Model
import Operations
import Sandbox
import System

/// What all jobs share: folders, ledger, cache, transfers, delivery.
final class Services {
  let folders: OwnedFolders
  let ledger: Ledger
  let earlier: EarlierWork
  private(set) var limits: JobLimits

  /// Notice that the ledger was repaired; nil when it was in order.
  let notice: String?

  /// The identity of the open ledger's file.
  private let ledgerIdentity: FileIdentity

  private let send: @Sendable (Darkroom.Message) -> Void
  private let opening: LedgerOpening
  private let downloads: DownloadCache
  private let indexes = JobIndexPool()
  private let runNames: RunNames

  /// When earlier processes last wrote something, in milliseconds since 1970.
  private let lastActive: Int

  private var engines: TransferEngines
  private var cacheSize: Int

  /// Takes possession of the folders, opens the ledger and puts in order what earlier processes left.
  /// - Throws: `StopError`, `SystemError`, `SQLiteError`, `LedgerError`.
  init(configuration: Configuration, send: @escaping @Sendable (Darkroom.Message) -> Void) throws {
    self.send = send
    folders = try OwnedFolders(configuration)
    lastActive = folders.lastActive
    opening = LedgerOpening(state: folders.state, outbox: folders.outbox, wasUsed: folders.stagingFolder.wasThere)
    (ledger, notice) = try opening.open()
    ledgerIdentity = try FileStatus(of: folders.state.ledger).identity
    earlier = try EarlierWork(folders, ledger)
    runNames = RunNames(findNewest: ledger.newestRun)
    try ledger.removeNotices(
      endedBefore: Clock.wallMilliseconds - NoticeVerdict.lifetime, except: configuration.notices)
    cacheSize = configuration.cacheSize
    downloads = DownloadCache(
      folder: folders.state.cache, limit: cacheSize, unfinished: Set(earlier.unfinished.map(\.job.runID)),
      cleared: { send(.cacheCleared) }, report: { send(.cacheFailed("\($0)")) })
    limits = JobLimits(configuration, descriptors: DescriptorLimit.current)
    engines = TransferEngines(configuration)
  }

  /// What was downloaded before; nil with `--cache-size 0`.
  var cache: DownloadCache? { cacheSize > 0 ? downloads : nil }

  // MARK: Jobs

  /// Makes the live jobs: none yet.
  func jobs(configuration: Configuration, observe: @escaping (Event) -> Void) -> LiveJobs {
    let (outbox, state) = (folders.outbox, folders.state)
    let delivery = DeliveryQueue(
      outbox: outbox, staging: folders.staging.path, state: state, ledger: ledger,
      syncsLogs: configuration.shared != nil,
      resultsCommitted: { [downloads] in downloads.commit() }
    ) { [send] in send(.delivery($0)) }
    let pool = DecodingPool(configuration) { [send] in send(.worker($0)) }
    let pending = PendingOperations(
      configuration: configuration, engine: engines.current,
      decoding: DecodingAccess(pool: pool, journal: earlier.journal)
    ) { [send] in send(.operation($0)) }
    let jobs = LiveJobs(
      queue: JobQueue(goal: .watch, unfinished: earlier.unfinished), pending: pending, delivery: delivery,
      suspension: Suspension(
        outbox: outbox, staging: folders.stagingFolder.pathInOutbox, state: state, downloads: downloads,
        minFree: configuration.minFree,
        memory: MemoryWatch(fullPauseTime: configuration.memoryPauseTime) { [root = configuration.kernelRoot] in
          MemoryReading(root: root)
        }),
      planner: planner(configuration, delivery), lastActive: lastActive, observe: observe,
      runEnded: { [downloads] in downloads.end(run: $0) }, send: { [send] in send(.job($0)) })
    jobs.table.unknownRuns = earlier.unknownRuns
    // A shard's ledger goes with the shard's end.
    jobs.retention =
      configuration.shared != nil
      ? nil
      : outbox.handle.map {
        LedgerRetention(LedgerSweep(ledger: ledger, outbox: $0, inbox: folders.inbox), state: state)
      }
    return jobs
  }

  private func planner(_ configuration: Configuration, _ delivery: DeliveryQueue) -> JobPlanner {
    JobPlanner(
      inbox: folders.inbox, outbox: folders.outbox, staging: folders.staging, state: folders.state, ledger: ledger,
      delivery: delivery, indexes: indexes, configuration: configuration, runNames: runNames, journal: earlier.journal)
  }

  /// Sets the configuration for entries and jobs that start from now on.
  func configure(_ configuration: Configuration, _ jobs: LiveJobs) {
    engines.configure(configuration)
    limits = JobLimits(configuration, descriptors: DescriptorLimit.current)
    jobs.pending.configure(configuration, engine: engines.current)
    jobs.scheduler.configure(configuration.hosts)
    jobs.suspension.space.minFree = configuration.minFree
    jobs.work.planner = planner(configuration, jobs.delivery)
    cacheSize = configuration.cacheSize
    cache?.resize(to: cacheSize)
  }

  /// Creates the gallery writer.
  /// - Parameter boot: Tells this start of the machine from others.
  func galleryWriter(boot: String) -> GalleryWriter {
    let ended = FinishedJobs(outbox: folders.outbox.path)
    let pages = GalleryPages(
      outbox: folders.outbox,
      staging: Staging(folder: folders.staging.path, runID: "gallery", handle: folders.staging),
      ledger: ledger, boot: boot, latest: { ended.latestEnded($0) })
    return GalleryWriter(pages) { [send] in send(.galleryFailed($0)) }
  }

  /// Checks that the outbox and the ledger are still those that this process has open.
  /// - Returns: As `OwnedFolders.checkOutbox`.
  /// - Throws: `StopError.outbox` when another file or folder has the path of one.
  func checkFolders() throws -> StopError? {
    try folders.checkOutbox() ?? folders.checkLedger(is: ledgerIdentity)
  }

  // MARK: The end

  /// Ends everything that runs on threads of its own.
  /// - Parameter isClean: Whether the ledger is in order, as far as is known.
  func shutDown(_ pending: PendingOperations, isClean: Bool) {
    // After an error some may run, or wait for others and then begin.
    pending.cancelAll()
    engines.shutDown()
    pending.waitForEndings()
    pending.decoding.pool.close()
    downloads.commit()
    // What runs still ends with the process, which is not its fault.
    earlier.journal?.close()
    if isClean { opening.close() }
  }
}
