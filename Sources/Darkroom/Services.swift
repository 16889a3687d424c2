import Delivery
import Foundation
import Gallery
import Inbox
import JobIndex
import Ledger
import Model
import Operations
import Planning
import Sandbox
import System
import Transfer

/// What all jobs share, and what does not know how many there are: folders, ledger, cache, transfers, delivery.
final class Services {
  let inbox: Inbox
  let outbox: OutboxFolder
  let state: StateFolder
  let ledger: Ledger

  /// What an earlier process left to be done.
  let unfinished: [(job: LedgerJob, manifest: JobManifest)]

  /// Whether the inbox was used with this outbox before: then a manifest that is missing at the start was removed. The folder
  /// under which a share is to be mounted has not been.
  let knowsInbox: Bool

  /// What is to be said about the ledger; nil when it was opened as usual.
  let notice: String?
  private let opening: LedgerOpening

  /// What could not be put in order at the start, a message each; empty for most.
  let troubles: [String]

  /// What others have put in the way, and does no harm.
  let warnings: [String]

  /// How many jobs may be live and do something, those included that have yielded their place.
  let liveLimit: Int

  /// The same, those included that only wait: they need a descriptor each, or none.
  var totalLimit: Int { 4 * liveLimit }

  /// The runs that earlier processes left whose manifests are not in the inbox any more, because those that were to replace
  /// them were rejected.
  private let detached: Set<String>

  private let send: @Sendable (Darkroom.Message) -> Void
  private let instances: [InstanceLock]
  private let staging: OpenFolder

  /// `OUTBOX/.darkroom`.
  let hidden: OpenFolder
  private let downloads: DownloadCache
  let journal: FiltrationJournal?
  private let indexes = JobIndexPool()

  /// The outbox as it was at the start.
  private let outboxIdentity: FileIdentity

  /// When the ledger was last written before this process began, in milliseconds since 1970.
  private let lastActive: Int

  /// The engine that transfers start on. An earlier one lives as long as transfers that were started on it.
  private var engine: TransferEngine
  private var earlierEngines: [EarlierEngine] = []
  private var cacheSize: Int

  /// An engine of an earlier configuration; nil once its last transfer has ended.
  private struct EarlierEngine {
    weak var engine: TransferEngine?
  }

  /// - Throws: `StopError`, `SystemError`, `SQLiteError`, `LedgerError`.
  init(configuration: Configuration, send: @escaping @Sendable (Darkroom.Message) -> Void) throws {
    self.send = send
    inbox = try Self.openInbox(configuration)
    let trouble = try inbox.own()
    // Who does not become the instance creates nothing.
    if configuration.newFolders.contains(configuration.outbox) { try Folder.create(configuration.outbox) }
    let path = try Folder.resolved(configuration.outbox)
    outbox = OutboxFolder(path: path, handle: try OpenFolder(path))
    warnings = Self.warnings(of: inbox, trouble)
    var outboxes = inbox.knownOutboxes
    let known = configuration.replacesOutbox ? nil : outboxes.marker(of: path)
    if let known { try OutboxMarker.check(outbox, is: known) }
    hidden = try outbox.openHidden()
    outboxIdentity = try hidden.status().identity
    let outboxLock = try InstanceLock(OutboxFolder.instanceName, in: hidden, of: outbox.path)
    try Folder.createDurably(configuration.state, mode: 0o700)
    state = try StateFolder(opening: Folder.resolved(configuration.state))
    let isElsewhere = state.path != outbox.hidden
    instances =
      try [outboxLock] + (isElsewhere ? [InstanceLock(OutboxFolder.instanceName, in: OpenFolder(state.path))] : [])
    // Without it, as on a full disk, everything works, but nobody notices when the outbox is not mounted.
    let marker = try? OutboxMarker.take(instances[0], in: hidden, known: known)
    knowsInbox = marker != nil && outboxes.marker(of: path) == marker
    let created: [String]
    (staging, created) = try hidden.create(outbox.stagingName(of: state), mode: 0o700)
    for folder in created { try Folder.sync(folder) }
    lastActive = Self.lastActive(state, hidden)
    opening = LedgerOpening(state: state, outbox: outbox)
    (ledger, notice) = try opening.open()
    let store = DamagedJobs(state: state, outbox: outbox, ledger: ledger)
    let (unfinished, damaged) = try store.takeOut(of: try ledger.liveJobs())
    self.unfinished = unfinished
    let ledger = ledger
    detached = Set(
      try unfinished.map(\.job).filter { job in
        try ledger.laterRuns(than: job.runID, job: job.name).contains(where: \.isRejectedReplacement)
      }.map(\.runID))
    // An inbox that lacks what unfinished jobs came from may be another folder: it is not to be taken for theirs later.
    let folder = inbox.path
    let isTheirs = knowsInbox || !unfinished.contains { $0.manifest.lies(in: folder) }
    if let marker, isTheirs {
      outboxes.remember(marker, of: path)
      try? inbox.remember(outboxes)
    }
    if !created.isEmpty { try Self.checkIntents(unfinished.map(\.job), ledger, staging: outbox.staging(of: state)) }
    // Without it everything works, but for a picture that ends the program again and again.
    journal = try? FiltrationJournal(in: state.openFolder(), runs: Set(unfinished.map(\.job.runID)))
    troubles =
      damaged.map(\.description) + [Self.emptyParkingFolder(of: inbox, unfinished, ledger)].compactMap { $0 }
    downloads = DownloadCache(
      folder: state.cache, limit: configuration.cacheSize, unfinished: Set(unfinished.map(\.job.runID)),
      cleared: { send(.cacheCleared) }, report: { send(.cacheFailed("\($0)")) })
    cacheSize = configuration.cacheSize
    try OrphanCleanup(staging: staging, state: state).run(
      keeping: unfinished.map(\.job) + damaged.filter { $0.folder == nil }.map(\.job), ledger: ledger)
    liveLimit = max(configuration.jobs, min(1024, DescriptorLimit.current / 16))
    // The last: nothing fails after it, so that its thread is not left behind.
    engine = TransferEngine(configuration: configuration.engine)
  }

  /// - Parameter trouble: Why the inbox cannot be owned; nil when it is.
  private static func warnings(of inbox: Inbox, _ trouble: String?) -> [String] {
    let others = (try? ParkingFolder.all(in: inbox.folder).others) ?? []
    return (trouble.map { ["the inbox has no file that says which process owns it: \($0)"] } ?? [])
      + others.map { "something else has the name of darkroom's own folder in the inbox, and is left alone: \($0)" }
  }

  /// As the property.
  private static func lastActive(_ state: StateFolder, _ hidden: OpenFolder) -> Int {
    // While the queues are suspended the ledger rests; then the status shows that the program lives.
    let written = [
      try? state.openFolder().status(of: Folder.name(of: state.ledger)),
      try? hidden.status(of: OutboxFolder.statusName),
    ]
    return written.compactMap { $0 }.map { Int($0.identity.modified.sinceEpoch * 1000) }.max() ?? 0
  }

  /// Opens the inbox. One that is missing is created, unless the outbox is another instance's.
  private static func openInbox(_ configuration: Configuration) throws -> Inbox {
    if configuration.newFolders.contains(configuration.inbox) {
      let file = OutboxFolder.hidden(OutboxFolder.instanceName)
      if let holder = try InstanceLock.holder(file: file, beneath: configuration.outbox) {
        throw StopError.busy(folder: configuration.outbox, process: holder)
      }
      try Folder.create(configuration.inbox)
    }
    return try Inbox(path: Folder.resolved(configuration.inbox), extraLock: configuration.lockFile)
  }

  private static func emptyParkingFolder(
    of inbox: Inbox, _ unfinished: [(job: LedgerJob, manifest: JobManifest)], _ ledger: Ledger
  ) -> String? {
    let finishing = unfinished.filter { $0.job.state == .finishing }.map(\.manifest.identity)
    do {
      try ManifestRemoval.resume(inbox: inbox.folder, finishing: finishing) { file in
        guard case .manifest(let job) = InboxFile(named: FileName(file)), let ended = try? ledger.lastEnded(job: job),
          let manifest = try? JobManifest(text: ended.details), manifest.file == file
        else { return nil }
        return manifest.identity
      }
      return nil
    } catch {
      return "what an earlier process was moving out of the inbox is left where it is: \(error)"
    }
  }

  /// What was downloaded before; nil when there is to be no cache.
  var cache: DownloadCache? { cacheSize > 0 ? downloads : nil }

  // MARK: Jobs

  /// Makes the live jobs: none yet.
  func jobs(configuration: Configuration, observe: @escaping (Event) -> Void) -> LiveJobs {
    let delivery = DeliveryQueue(
      outbox: outbox, staging: outbox.staging(of: state), state: state, ledger: ledger,
      resultsCommitted: { [downloads] in downloads.commit() }
    ) { [send] in send(.delivery($0)) }
    let pool = DecodingPool(configuration) { [send] in send(.worker($0)) }
    let pending = PendingOperations(
      configuration: configuration, engine: engine, decoding: DecodingAccess(pool: pool, journal: journal)
    ) { [send] in send(.operation($0)) }
    let jobs = LiveJobs(
      queue: JobQueue(goal: .watch, unfinished: unfinished), pending: pending, delivery: delivery,
      suspension: Suspension(
        outbox: outbox, state: state, downloads: downloads, minFree: configuration.minFree,
        memory: MemoryWatch(patience: configuration.memoryPatience) { [root = configuration.kernelRoot] in
          MemoryReading(root: root)
        }),
      planner: planner(configuration, delivery), lastActive: lastActive, observe: observe,
      runEnded: { [downloads] in downloads.end(run: $0) }, send: { [send] in send(.job($0)) })
    jobs.table.unknownRuns = Set(unfinished.map(\.job.runID).filter { !knowsInbox || detached.contains($0) })
    jobs.retention = outbox.handle.map {
      LedgerRetention(ledger: ledger, state: state, outbox: $0, inbox: inbox)
    }
    return jobs
  }

  private func planner(_ configuration: Configuration, _ delivery: DeliveryQueue) -> JobPlanner {
    JobPlanner(
      inbox: inbox, outbox: outbox, staging: staging, state: state, ledger: ledger, delivery: delivery,
      indexes: indexes, configuration: configuration, journal: journal)
  }

  /// Sets the configuration for entries and jobs that start from now on.
  func configure(_ configuration: Configuration, _ jobs: LiveJobs) {
    earlierEngines = earlierEngines.filter { $0.engine != nil } + [EarlierEngine(engine: engine)]
    engine = TransferEngine(configuration: configuration.engine)
    jobs.pending.configure(configuration, engine: engine)
    jobs.scheduler.configure(configuration.hosts)
    jobs.suspension.space.minFree = configuration.minFree
    jobs.work.planner = planner(configuration, jobs.delivery)
    cacheSize = configuration.cacheSize
    cache?.resize(to: cacheSize)
  }

  /// Makes what writes the gallery.
  /// - Parameter boot: Tells this start of the machine from others.
  func galleryWriter(boot: String) -> GalleryWriter {
    let ended = FinishedJobs(outbox: outbox.path)
    let pages = GalleryPages(
      outbox: outbox, staging: Staging(folder: outbox.staging(of: state), runID: "gallery", handle: staging),
      ledger: ledger, boot: boot, latest: { ended.latestEnded($0) })
    return GalleryWriter(pages) { [send] in send(.galleryFailed($0)) }
  }

  // MARK: The end

  /// Ends everything that runs on threads of its own.
  /// - Parameter isClean: Whether the ledger is in order, as far as is known.
  func shutDown(_ pending: PendingOperations, isClean: Bool) {
    // After an error some may run, or wait for others and then begin.
    pending.cancelAll()
    for earlier in earlierEngines { earlier.engine?.shutdown() }
    engine.shutdown()
    pending.waitForEndings()
    pending.decoding.pool.close()
    downloads.commit()
    // What runs still ends with the process, which is not its fault.
    journal?.close()
    if isClean { opening.close() }
  }

  /// Checks that the outbox is still the folder that this process owns: another instance may own another one, and what is
  /// written into an unmounted share's mount point is lost.
  /// - Returns: Why it cannot be examined now, or that it is missing, as while a share is not mounted; nil when it is there.
  /// - Throws: `StopError.outbox` when another is there.
  func checkOutbox() throws -> StopError? {
    do {
      let found = try FileStatus(of: outbox.hidden).identity
      if (found.device, found.inode) == (outboxIdentity.device, outboxIdentity.inode) { return nil }
    } catch  where error.code != ENOENT && error.code != ENOTDIR {
      return .outbox("\(outbox.path): the outbox cannot be examined: \(error)")
    } catch {
      return .outbox("\(outbox.path): the outbox was removed, or is not mounted")
    }
    throw StopError.outbox(
      "\(outbox.path): the outbox was replaced; what is not done stays for the next start")
  }

  /// Checks that the outbox may be the one in which an earlier process was about to deliver something: when it is not
  /// mounted, all that was delivered would seem to have been taken away.
  /// - Throws: `StopError.outbox`.
  private static func checkIntents(_ unfinished: [LedgerJob], _ ledger: Ledger, staging: String) throws {
    guard try unfinished.contains(where: { try !$0.documents.isEmpty || !ledger.intended(run: $0.runID).isEmpty })
    else { return }
    rmdir(staging)
    throw StopError.outbox(
      "\(staging): the folder is missing in which results wait to be delivered; is the outbox mounted? Create it to go "
        + "on without them")
  }
}

extension Configuration {
  /// What the engine gets: it must not allow less at any host than a rule does.
  fileprivate var engine: TransferConfiguration {
    var engine = transfer
    let most = hosts.mostPerHost ?? 0
    engine.perHost.connections = max(engine.perHost.connections, most)
    engine.perHost.streams = max(engine.perHost.streams, most)
    return engine
  }
}
