import Foundation
import Model
import Scheduling
import Synchronization
import System
import Transfer

/// The first operation of an entry: streams its source to memory or, if it is large or needed there, to a file in staging.
///
/// Asynchronous: it occupies a slot of the download queue, but no thread while bytes arrive.
package final class ImageDownloader: AsynchronousOperation, @unchecked Sendable {  // what changes is in a Mutex
  private struct Live {
    var transfer: TransferID?
    /// Identifies downloads of the same request; nil for files.
    var key: SharedDownloads.Key?
    /// The download that it waits for; nil when it does not wait.
    var leader: PhotoRecord.ID?
    /// When the time limit for all tries of its entry is over; nil without a limit.
    var deadline: ContinuousClock.Instant?
  }

  package let record: PhotoRecord

  /// The bytes that have arrived; none while it waits for another download.
  package let progress = TransferProgress()
  private let engine: TransferEngine
  private let access: CacheAccess
  private let delivered: @Sendable (CacheKey) -> CachedSource?
  private let shared: SharedDownloads
  private let staged: SourceStaging
  private let formCheck = FormCheck()
  private let rules: HostRules
  private let endings: DispatchQueue
  private let report: @Sendable (PendingOperations.Event) -> Void
  private let reportsBeginning: Bool
  private let reportsAnswer: Bool
  private let ended: @Sendable (PhotoRecord) -> Void
  private let live = Mutex(Live())

  /// - Parameters:
  ///   - access: The cache.
  ///   - delivered: The source of a request whose bytes are not needed, because its result exists. Default: nil.
  ///   - shared: The other downloads in progress.
  ///   - memory: The memory for small sources; nil when the source is needed as a file in staging. Default: nil.
  ///   - rules: The rules for hosts.
  ///   - endings: The queue on which transfers of URLs are completed, since the engine's thread only transfers.
  ///   - report: Called on any thread before the request begins, or when the download waits for another; and on the
  ///     engine's thread when the first answer to the request arrives, if that is reported.
  ///   - ended: Called on any thread before the operation finishes.
  init(
    _ record: PhotoRecord, engine: TransferEngine, access: CacheAccess,
    delivered: @escaping @Sendable (CacheKey) -> CachedSource? = { _ in nil }, shared: SharedDownloads,
    memory: BodyMemory? = nil, rules: HostRules = HostRules(), endings: DispatchQueue,
    report: @escaping @Sendable (PendingOperations.Event) -> Void, reportsBeginning: Bool, reportsAnswer: Bool,
    ended: @escaping @Sendable (PhotoRecord) -> Void
  ) {
    self.record = record
    self.engine = engine
    self.access = access
    self.delivered = delivered
    self.shared = shared
    staged = SourceStaging(record, memory: memory)
    self.rules = rules
    self.endings = endings
    self.report = report
    (self.reportsBeginning, self.reportsAnswer) = (reportsBeginning, reportsAnswer)
    self.ended = ended
    super.init()
    name = "download \(record.entry.name)"
    queuePriority = record.entry.priority.queuePriority
  }

  package override func start() {
    live.withLock { $0.deadline = record.settings.timeLeft.map { .now + $0 } }
    enter(.executing)
    guard !isCancelled, record.beginDownload() else { return finish() }
    begin()
  }

  /// Begins the download, once the files of its form are checked.
  private func begin() {
    // What the other variant had from the cache may have been confirmed only.
    if let source = record.inherited, source.isCached && !access.isRefreshing || staged.hasFile {
      if reportsBeginning { report(.downloadBegan(record, at: nil)) }
      record.downloaded(source, taking: .zero)
      return end()
    }
    do {
      let location = try SourceLocation(parsing: record.url)
      let request = record.entry.request
      let named = location.scheme == .file ? location : request.files.first
      if let named, !record.run.mayReadFiles { throw TransferError(.schemeNotAllowed, named.fileFromServer) }
      guard location.scheme != .file else {
        progress.setLimited()
        return try transfer(location)
      }
      if request.files.isEmpty { try begin(location, FormFiles()) } else { check(location) }
    } catch {
      fail(error)
    }
  }

  /// Begins the download when the files of its form have been checked.
  private func check(_ location: SourceLocation) {
    let limit = engine.timeLimit((rules.rule(for: location)?.settings ?? HostSettings()).limited(by: limits))
    formCheck.begin(record.entry.request, by: engine, within: limit, on: endings) { [self] result in
      switch result {
      case .success(let files):
        do { try begin(location, files) } catch { fail(error) }
      case .failure(let error): failCheck(error)
      }
    }
    // A later cancellation finds it being checked.
    if isCancelled, formCheck.end() { finish() }
  }

  /// Fails before the request was sent, so that it can be repeated.
  private func failCheck(_ error: TransferError) {
    record.usedHost(HostUsage(.failure(error), taking: .zero, from: record.url))
    fail(error)
  }

  private func fail(_ error: any Error) {
    record.fail(EntryFailure(error, otherwise: .download(.network)))
    end()
  }

  /// Begins the download of a URL, or waits for another one of the same request.
  private func begin(_ location: SourceLocation, _ files: FormFiles) throws {
    let request = record.entry.request
    let rule = rules.rule(for: location)
    let key = SharedDownloads.Key(
      request: CacheKey(
        location, request, key: sourceName, files: files.version, secrets: rule?.secrets,
        run: request.isCacheable ? nil : record.run.firstRunID ?? record.run.runID),
      checksum: record.entry.checksum, isRefreshing: access.isRefreshing)
    live.withLock { $0.key = key }
    let leader = shared.leader(key, self)
    live.withLock { $0.leader = leader }
    guard leader == nil else {
      if reportsBeginning { report(.downloadBegan(record, at: nil)) }
      // A later cancellation finds it among the waiting downloads.
      if isCancelled, shared.withdraw(self, from: key) { finish() }
      return
    }
    let known = access.known(key.request, request) { delivered(key.request) }
    if let known, known.isOfThisRun {
      record.use(known.source, key.request)
      end()
    } else {
      try transfer(location, key.request, known?.source, files: files, settings: rule?.settings ?? HostSettings())
    }
  }

  /// The text that replaces the URL in keys: the entry's `cache-key`, within its job. A job's name contains no slash.
  private var sourceName: String? { record.entry.key.map { record.run.job + "/" + $0 } }

  /// - Parameters:
  ///   - key: The key of the request in the cache; nil when the source is not added to the cache.
  ///   - known: The source in the cache.
  ///   - files: The files of the request's form.
  ///   - settings: The settings of the host's rule.
  private func transfer(
    _ location: SourceLocation, _ key: CacheKey? = nil, _ known: CachedSource? = nil,
    files: FormFiles = FormFiles(), settings: HostSettings = HostSettings()
  ) throws {
    let (store, partial) = try staged.destination(
      mayContinue: location.scheme != .file && record.entry.request.isCacheable)
    let began = ContinuousClock.now
    let request = TransferRequest(
      location: location, request: record.entry.request, files: files, destination: store,
      checksum: record.entry.checksum, validators: known?.validators,
      validatorScope: sourceName.map { location.scope(of: $0) }, settings: settings.limited(by: limits),
      progress: progress, partial: partial, answered: reportAnswer)
    if reportsBeginning { report(.downloadBegan(record, at: Clock.monotonicMilliseconds)) }
    let transfer = engine.start(request) { [self] result in
      let time = began.duration(to: .now)
      let complete: @Sendable () -> Void = { [self] in
        let settled = result.flatMap { outcome in
          Result { () throws(TransferError) in try outcome.settled(in: store, of: location) }
        }
        take(settled, from: store, key, known, after: time)
        if let partial, record.state == .failed { staged.keep(partial, in: store) }
        end()
      }
      // Files are read by threads of their own, and not by the engine's.
      if location.scheme == .file { complete() } else { endings.async(execute: complete) }
    }
    live.withLock { $0.transfer = transfer }
    if isCancelled { engine.cancel(transfer) }
  }

  /// Called when an answer begins to arrive; nil when that is not reported.
  private var reportAnswer: (@Sendable () -> Void)? {
    guard reportsAnswer else { return nil }
    return { [record, report] in report(.hostAnswered(record)) }
  }

  /// Records the result of a transfer.
  private func take(
    _ result: Result<TransferOutcome, TransferError>, from store: BodyStore, _ key: CacheKey?, _ known: CachedSource?,
    after time: Duration
  ) {
    record.usedHost(HostUsage(result, taking: time, from: record.url))
    switch result {
    case .success(let outcome) where outcome.isNotModified:
      if store.isInFile { staged.remove() }
      confirm(known, key, outcome, taking: time)
    case .success(let outcome):
      var source = PhotoRecord.Source(outcome)
      let bytes = store.takeBytes()
      record.keepBytes(bytes)
      if let key, !record.isForeignPage(outcome) {
        let kept = record.cachedSource(of: outcome)
        source.answer = SourceAnswer(kept, of: key)
        if outcome.mayBeStored {
          access.cache?.keep(kept, of: key, from: bytes.map { .memory($0) } ?? .file(staged.path))
        }
      }
      record.downloaded(source, taking: time)
    case .failure(let error) where error.code == .cancelled: record.cancel()
    case .failure(let error): record.fail(EntryFailure(error))
    }
  }

  /// Uses a source that the server has confirmed to be unchanged.
  private func confirm(_ known: CachedSource?, _ key: CacheKey?, _ outcome: TransferOutcome, taking time: Duration) {
    guard let known, let key else { return record.fail(.cache) }
    let confirmed = known.confirmed(by: outcome, to: record.asked(outcome))
    record.use(confirmed, key, taking: time)
    access.cache?.confirm(confirmed, of: key)
  }

  // MARK: Other downloads of the same request

  /// Completes a download that has waited for another: shares its bytes, links its file, or shares its failure, unless that
  /// was due to the time limit of the other entry.
  /// - Parameters:
  ///   - leader: The record of the other one.
  ///   - bytes: The source of the other one; nil when it is in a file.
  ///   - path: The path of that file.
  private func adopt(_ leader: ImageDownloader, _ bytes: BodyBytes?, from path: String) {
    guard !isCancelled else { return finish() }
    let ended = leader.record.snapshot
    switch ended.state {
    case .failed where leader.hasRunOutOfTime(ended) && mayFollow(ended): return beginAnew()
    case .failed:
      if let failure = ended.failure { record.fail(failure.naming(record.url, insteadOf: leader.record.url)) }
    case .downloaded:
      guard var source = ended.source else { return beginAnew() }
      guard source.isCached || staged.share(bytes, or: path) else { return beginAnew() }
      record.keepPartial(nil)
      source.isCoalesced = true
      record.downloaded(source, taking: .zero)
    default: return beginAnew()
    }
    finish()
  }

  /// Whether it failed because the time limit of its entry was over. libcurl counts whole milliseconds, and may end before that.
  private func hasRunOutOfTime(_ ended: PhotoRecord.Live) -> Bool {
    guard let left = timeLeft, let code = ended.failure?.code else { return false }
    return left < .milliseconds(20) && (code == .download(.timeout) || code == .download(.connect))
  }

  /// Whether its request may be sent after another of the same kind that has failed so, and there is time left for it.
  private func mayFollow(_ ended: PhotoRecord.Live) -> Bool {
    guard record.entry.request.isCacheable || ended.usage.requests.sent == 0 else { return false }
    return timeLeft.map { $0 > .zero } ?? true
  }

  /// Begins a download that waited for another.
  private func beginAnew() {
    live.withLock { ($0.key, $0.leader) = (nil, nil) }
    begin()
  }

  /// The settings of this try, with the time that is left now.
  private var limits: HostSettings {
    var limits = record.settings
    limits.timeLeft = timeLeft.map { max(.milliseconds(1), $0) }
    return limits
  }

  /// The time that is left for its entry; nil without a limit.
  private var timeLeft: Duration? { live.withLock { $0.deadline }.map { ContinuousClock.now.duration(to: $0) } }

  /// The record whose download this one waits for; nil when it does not wait.
  var leader: PhotoRecord.ID? { live.withLock { $0.leader } }

  /// Gives up its slot at the host because it is too slow, so that other transfers can start.
  func leaveSlot() {
    if let transfer = live.withLock({ $0.transfer }) { engine.leaveSlot(transfer) }
  }

  package override func cancel() {
    super.cancel()
    let (transfer, key) = live.withLock { ($0.transfer, $0.key) }
    if formCheck.end() { return finish() }
    if let key, shared.withdraw(self, from: key) { return finish() }
    if let transfer { engine.cancel(transfer) }
  }

  // MARK: The end

  /// Ends a download for which others may wait. The end is reported first, because a refusal by the host counts for the
  /// waiting ones too. They get the file before its filtration removes it.
  private func end() {
    reportEnd()
    if let key = live.withLock({ $0.key }) {
      let bytes = record.bodyBytes
      for waiting in shared.end(key) { waiting.adopt(self, bytes, from: staged.path) }
    }
    enter(.finished)
  }

  /// Ends a download that waited for another, or did not begin.
  private func finish() {
    reportEnd()
    enter(.finished)
  }

  private func reportEnd() {
    if record.state == .downloaded { staged.shareWithVariants() } else { staged.remove() }
    ended(record)
  }
}

extension Entry.Priority {
  /// The same priority for operations of a queue.
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
