import Foundation
import Model
import Scheduling
import Synchronization
import System
import Transfer

/// The first operation of an entry: its source, streamed into a file in staging.
///
/// Asynchronous: it occupies a place in the download queue, but no thread while bytes come.
package final class ImageDownloader: Operation, @unchecked Sendable {  // what changes is in the record and in a Mutex
  private enum Phase { case waiting, executing, finished }

  private struct Live {
    var phase = Phase.waiting
    var transfer: TransferID?
    /// What is shared with other downloads of the same request; nil for files.
    var key: SharedDownloads.Key?
    /// The download that it waits for; nil while it waits for none.
    var leader: PhotoRecord.ID?
  }

  package let record: PhotoRecord

  /// What has arrived; nothing while it waits for another download.
  package let progress = TransferProgress()
  private let engine: TransferEngine
  private let access: CacheAccess
  private let delivered: @Sendable (CacheKey) -> CachedSource?
  private let shared: SharedDownloads
  private let rules: HostRules
  private let endings: DispatchQueue
  private let report: @Sendable (PendingOperations.Event) -> Void
  private let reportsBeginning: Bool
  private let reportsAnswer: Bool
  private let ended: @Sendable (PhotoRecord) -> Void
  private let live = Mutex(Live())

  /// - Parameters:
  ///   - access: Where the source may be already, and is kept.
  ///   - delivered: The source of a request that need not be there, because its result is. Default: nil.
  ///   - shared: The other downloads that are under way.
  ///   - rules: Those for hosts.
  ///   - endings: Where what has been transferred ends: the engine's thread is for transfers.
  ///   - report: Called on any thread before it begins its request or waits for another, and on the engine's thread when
  ///     the first answer to its request begins to arrive, if that is to be reported.
  ///   - ended: Called on any thread, before the operation finishes.
  init(
    _ record: PhotoRecord, engine: TransferEngine, access: CacheAccess,
    delivered: @escaping @Sendable (CacheKey) -> CachedSource? = { _ in nil }, shared: SharedDownloads,
    rules: HostRules = HostRules(), endings: DispatchQueue,
    report: @escaping @Sendable (PendingOperations.Event) -> Void, reportsBeginning: Bool, reportsAnswer: Bool,
    ended: @escaping @Sendable (PhotoRecord) -> Void
  ) {
    self.record = record
    self.engine = engine
    self.access = access
    self.delivered = delivered
    self.shared = shared
    self.rules = rules
    self.endings = endings
    self.report = report
    (self.reportsBeginning, self.reportsAnswer) = (reportsBeginning, reportsAnswer)
    self.ended = ended
    super.init()
    name = "download \(record.entry.name)"
    queuePriority = record.entry.priority.queuePriority
  }

  package override var isAsynchronous: Bool { true }
  package override var isExecuting: Bool { live.withLock { $0.phase == .executing } }
  package override var isFinished: Bool { live.withLock { $0.phase == .finished } }

  package override func start() {
    enter(.executing)
    guard !isCancelled, record.beginDownload() else { return finish() }
    begin()
  }

  /// Begins the download, or waits for another of the same request.
  private func begin() {
    if let source = record.inherited, source.isCached || (try? staging.open(download)) != nil {
      if reportsBeginning { report(.downloadBegan(record, at: nil)) }
      record.downloaded(source, taking: .zero)
      return end()
    }
    do {
      let location = try SourceLocation(parsing: record.url)
      guard location.scheme != .file else {
        guard record.run.mayReadFiles else { throw TransferError(.schemeNotAllowed, location.fileFromServer) }
        progress.setLimited()
        return try transfer(location)
      }
      let request = record.entry.request
      let rule = rules.rule(for: location)
      let key = SharedDownloads.Key(
        request: CacheKey(
          location, request, key: sourceName, secrets: rule?.secrets,
          run: request.isCacheable ? nil : record.run.firstRunID ?? record.run.runID),
        checksum: record.entry.checksum)
      live.withLock { $0.key = key }
      let leader = shared.leader(key, self)
      live.withLock { $0.leader = leader }
      guard leader == nil else {
        if reportsBeginning { report(.downloadBegan(record, at: nil)) }
        // Whoever cancels it from now on finds it waiting.
        if isCancelled, shared.withdraw(self, from: key) { finish() }
        return
      }
      let known = access.known(key.request, request) { delivered(key.request) }
      if let known, known.isOfThisRun {
        use(known.source, key.request)
        end()
      } else {
        try transfer(location, key.request, known?.source, settings: rule?.settings ?? HostSettings())
      }
    } catch {
      record.fail(EntryFailure(error, otherwise: .download(.network)))
      end()
    }
  }

  /// What stands for the URL: the entry's key, which is its job's own. No slash is in a job's name.
  private var sourceName: String? { record.entry.key.map { record.run.job + "/" + $0 } }

  /// - Parameters:
  ///   - key: What the cache knows the request by; nil when it is not to keep what comes.
  ///   - known: What the cache has of it.
  ///   - settings: What differs at its host.
  private func transfer(
    _ location: SourceLocation, _ key: CacheKey? = nil, _ known: CachedSource? = nil,
    settings: HostSettings = HostSettings()
  ) throws {
    let (file, partial) = try destination(mayContinue: location.scheme != .file && record.entry.request.isCacheable)
    let began = ContinuousClock.now
    let request = TransferRequest(
      location: location, request: record.entry.request, destination: file.descriptor, checksum: record.entry.checksum,
      validators: known?.validators, validatorScope: sourceName.map { location.scope(of: $0) },
      settings: settings.limited(by: record.settings), progress: progress, partial: partial, answered: reportAnswer)
    if reportsBeginning { report(.downloadBegan(record, at: Clock.monotonicMilliseconds)) }
    let transfer = engine.start(request) { [self] result in
      let time = began.duration(to: .now)
      endings.async { [self] in
        withExtendedLifetime(file) { take(result, key, known, after: time) }
        if let partial, record.state == .failed { record.keep(PartialDownload(partial, download, in: staging)) }
        end()
      }
    }
    live.withLock { $0.transfer = transfer }
    if isCancelled { engine.cancel(transfer) }
  }

  /// The file to download to: what the last try has left, or a new one.
  /// - Parameter mayContinue: Whether the next try may continue what this one leaves.
  private func destination(mayContinue: Bool) throws -> (OpenFile, PartialBody?) {
    let left = record.takePartial()
    guard mayContinue else { return (try create(), nil) }
    if let begun = left?.take(as: download) { return begun }
    return (try create(), PartialBody())
  }

  /// The cache has the same file, and keeps it to itself.
  private func create() throws(SystemError) -> OpenFile { try staging.create(download, mode: 0o600) }

  /// What is called when an answer begins to arrive; nil when that is not reported.
  private var reportAnswer: (@Sendable () -> Void)? {
    guard reportsAnswer else { return nil }
    return { [record, report] in report(.hostAnswered(record)) }
  }

  /// Records how a transfer ended.
  private func take(
    _ result: Result<TransferOutcome, TransferError>, _ key: CacheKey?, _ known: CachedSource?, after time: Duration
  ) {
    record.usedHost(HostUsage(result, taking: time, from: record.url))
    switch result {
    case .success(let outcome) where outcome.isNotModified: confirm(known, key, outcome, taking: time)
    case .success(let outcome):
      var source = PhotoRecord.Source(outcome)
      if let key, !isForeignPage(outcome) {
        let kept = self.source(of: outcome)
        source.answer = SourceAnswer(kept, of: key)
        if outcome.mayBeStored { access.cache?.keep(kept, of: key, from: staging.path(download)) }
      }
      record.downloaded(source, taking: time)
    case .failure(let error) where error.code == .cancelled: record.cancel()
    case .failure(let error): record.fail(EntryFailure(error))
    }
  }

  // MARK: The cache

  /// What is kept of a source that was downloaded. Of one that may not be stored nobody asks whether it has changed.
  private func source(of outcome: TransferOutcome) -> CachedSource {
    CachedSource(
      sha256: outcome.sha256, bytes: outcome.bytes, finalURL: outcome.finalURL,
      validators: outcome.mayBeStored ? outcome.validators : nil, asked: asked(outcome),
      contentType: outcome.contentType.flatMap { $0.hasPrefix("image/") ? nil : $0 })
  }

  /// Whether it is a page of another host, such as that of a captive portal.
  private func isForeignPage(_ outcome: TransferOutcome) -> Bool {
    ["text/html", "application/xhtml+xml"].contains { outcome.contentType?.lowercased().hasPrefix($0) == true }
      && SourceLocation.hostName(of: outcome.finalURL) != SourceLocation.hostName(of: record.url)
  }

  /// The server says that the source is what it was.
  private func confirm(_ known: CachedSource?, _ key: CacheKey?, _ outcome: TransferOutcome, taking time: Duration) {
    guard let known, let key else { return record.fail(.cache) }
    staging.remove(download)
    let confirmed = known.confirmed(by: outcome, to: asked(outcome))
    use(confirmed, key, taking: time)
    access.cache?.confirm(confirmed, of: key)
  }

  private func asked(_ outcome: TransferOutcome) -> CachedSource.Asked {
    CachedSource.Asked(
      runID: staging.runID, position: record.entry.position, httpStatus: outcome.httpStatus ?? 0,
      time: Clock.wallMilliseconds, isOnce: !record.entry.request.isCacheable)
  }

  /// Uses what the cache has, or whose result is there, without its bytes. Whether they are there still, the filtration finds out.
  private func use(_ known: CachedSource, _ key: CacheKey, taking time: Duration = .zero) {
    let isOwn = known.asked.position == record.entry.position && known.asked.runID == record.run.runID
    record.downloaded(
      PhotoRecord.Source(
        finalURL: known.finalURL, httpStatus: isOwn ? known.asked.httpStatus : nil, bytes: known.bytes,
        sha256: known.sha256, isCached: true, isCoalesced: !isOwn && !known.isOfResult,
        contentType: known.contentType, isOfResult: known.isOfResult, answer: SourceAnswer(known, of: key)),
      taking: time)
  }

  // MARK: Other downloads of the same request

  /// The download that this one has waited for has ended: its file is linked, its failure shared.
  private func adopt(_ leader: PhotoRecord.Live, from path: String) {
    guard !isCancelled else { return finish() }
    switch leader.state {
    case .failed:
      if let failure = leader.failure { record.fail(failure) }
    case .downloaded:
      guard var source = leader.source else { return begin() }
      staging.remove(download)
      guard source.isCached || staging.link(path, as: download) else { return begin() }
      record.keep(nil)
      source.isCoalesced = true
      record.downloaded(source, taking: .zero)
    default: return begin()
    }
    finish()
  }

  /// The record whose download this one waits for; nil while it waits for none.
  var leader: PhotoRecord.ID? { live.withLock { $0.leader } }

  /// Keeps other transfers of its host waiting no more, because it is too slow.
  func leaveSlot() {
    if let transfer = live.withLock({ $0.transfer }) { engine.leaveSlot(transfer) }
  }

  package override func cancel() {
    super.cancel()
    let (transfer, key) = live.withLock { ($0.transfer, $0.key) }
    if let key, shared.withdraw(self, from: key) { return finish() }
    if let transfer { engine.cancel(transfer) }
  }

  // MARK: The end

  private var staging: Staging { record.run.staging }

  private var download: String { staging.download(record.entry.position) }

  /// Ends a download that led. It is reported first, because a refusal is the host's and counts for those that waited, too;
  /// then these get its file, before its filtration removes it.
  private func end() {
    reportEnd()
    if let key = live.withLock({ $0.key }) {
      for waiting in shared.end(key) { waiting.adopt(record.snapshot, from: staging.path(download)) }
    }
    enter(.finished)
  }

  /// Ends a download that waited for another, or never began.
  private func finish() {
    reportEnd()
    enter(.finished)
  }

  private func reportEnd() {
    if record.state != .downloaded { staging.remove(download) } else { shareWithVariants() }
    ended(record)
  }

  /// Gives the other variants of the entry the file, each for its own filtration.
  private func shareWithVariants() {
    guard !record.waitingVariants.isEmpty, record.source?.isCached == false else { return }
    for position in record.waitingVariants {
      staging.remove(staging.download(position))
      // One that does not get it downloads it itself.
      _ = staging.link(staging.path(download), as: staging.download(position))
    }
  }

  /// Changes the phase. The queue observes it (key-value observing).
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
      finalURL: outcome.finalURL, httpStatus: outcome.httpStatus, bytes: outcome.bytes, sha256: outcome.sha256,
      contentType: outcome.contentType)
  }
}

extension HostUsage {
  /// - Parameter url: The one that was asked first.
  fileprivate init(_ result: Result<TransferOutcome, TransferError>, taking time: Duration, from url: String) {
    self.init()
    isOwn = true
    milliseconds = Int(time.milliseconds)
    switch result {
    case .success(let outcome):
      (bytes, requests, firstByte) = (outcome.received, outcome.requests, outcome.answer?.firstByte)
      contact = .answered(outcome.answer, requests)
    case .failure(let error):
      (bytes, requests, firstByte) = (error.bytes, error.requests, error.answer?.firstByte)
      guard error.code != .cancelled, error.code != .io else { return }
      failure = error.code
      if let hostFailure = error.hostFailure {
        // The last host that was asked may be another one.
        let host = error.finalURL.flatMap(SourceLocation.hostName)
        if host == nil || host == SourceLocation.hostName(of: url) { contact = .failed(hostFailure) }
      } else if let answer = error.answer {
        contact = .answered(answer, requests)
      }
    }
  }
}

extension HostScheduler.Contact {
  fileprivate static func answered(_ answer: HostAnswer?, _ requests: RequestCount) -> Self {
    // The last of several answers may be another host's.
    .answered(
      firstByte: requests.sent == 1 ? answer?.firstByte : nil,
      isMultiplexed: requests.sent == 1 && answer?.isHTTP2 == true)
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
