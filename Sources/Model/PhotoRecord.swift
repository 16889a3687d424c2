import Imaging
import Ledger
import Synchronization
import System
import Transfer

/// An entry's live state, shared by its two operations: `new → downloaded → filtered`, or `failed`, or `cancelled`.
///
/// The record, not an operation, is what is reported.
package final class PhotoRecord: Sendable {
  package enum State: String, Sendable { case new, downloaded, filtered, failed, cancelled }

  /// What was downloaded.
  package struct Source: Sendable, Equatable {
    package let finalURL: String
    package let httpStatus: Int?
    package let bytes: Int
    package let sha256: String
    package var picture: ImageInfo?

    /// Whether the bytes are in the cache, if anywhere, and not in staging.
    package var isCached = false

    /// Whether they came with a transfer of another entry of the same run.
    package var isCoalesced = false

    /// What the server says that they are, with its parameters; nil when it says nothing, and for pictures from the cache.
    package var contentType: String?

    /// Whether not even the cache has them: the result is there.
    package var isOfResult = false

    /// The answer that brought it, if a server can be asked by it whether the source has changed.
    package var answer: SourceAnswer?

    package init(
      finalURL: String, httpStatus: Int?, bytes: Int, sha256: String, picture: ImageInfo? = nil, isCached: Bool = false,
      isCoalesced: Bool = false, contentType: String? = nil, isOfResult: Bool = false, answer: SourceAnswer? = nil
    ) {
      self.finalURL = finalURL
      self.httpStatus = httpStatus
      self.bytes = bytes
      self.sha256 = sha256
      self.picture = picture
      self.isCached = isCached
      self.isCoalesced = isCoalesced
      self.contentType = contentType
      self.isOfResult = isOfResult
      self.answer = answer
    }

    /// Whether others have the bytes, too; then they are to be checked.
    package var isShared: Bool { isCached || isCoalesced }
  }

  /// What was made.
  package struct Result: Sendable {
    package let picture: ImageInfo
    package let key: ResultKey
    /// The quality with which it was encoded; nil when it is lossless or a copy.
    package var quality: Int?
    /// What is doubtful about it.
    package var warnings: [ReportRow.Warning] = []

    package init(picture: ImageInfo, key: ResultKey, quality: Int? = nil, warnings: [ReportRow.Warning] = []) {
      self.picture = picture
      self.key = key
      self.quality = quality
      self.warnings = warnings
    }
  }

  /// Everything that changes.
  package struct Live: Sendable {
    package var state = State.new
    /// Whether its download has begun, or was to begin, by this record's operations.
    var hasBegun = false
    package var source: Source?
    package var result: Result?
    /// What stands for a result that was not made again.
    package var reused: DeliveredResult?
    /// The files that are delivered, complete in staging or in the outbox already.
    package var artifacts: [Artifact] = []
    package var failure: EntryFailure?
    /// Whether the source of the result that was there before has another SHA-256; nil when there was none.
    var isSourceChanged: Bool?
    /// When it failed, as `Clock.monotonicSeconds`.
    package var failedAt: Double?
    var timings = ReportRow.Timings()
    /// How often a download was begun, tries of earlier operations included.
    package var attempts: Int
    /// What the download took from its host.
    package var usage = HostUsage()
  }

  /// Tells the record from those of all live runs.
  package struct ID: Sendable, Hashable {
    package let run: Int
    package let position: Int

    package init(run: Int, position: Int) {
      self.run = run
      self.position = position
    }
  }

  package let entry: Entry
  package let run: RunContext

  /// Which of the entry's URLs is in use, from 0.
  package let mirror: Int

  /// The entry's failure in the job's last run; nil when it had none.
  let lastFailure: LedgerFailure?

  /// How the entry's mirrors before this one failed, in their order.
  package let earlierMirrors: [ReportRow.MirrorFailure]

  /// When the entry was first tried, in milliseconds since 1970; nil when that is this time.
  package let firstTried: Int?

  /// What is different about this try.
  package let settings: HostSettings

  /// Whether its time is so short that nothing follows from a host that does not answer.
  let isCutShort: Bool

  /// Whether its last try found out that the bytes of its source are not there: its result does not stand for them.
  package let needsBytes: Bool

  /// What another variant of its entry has downloaded for it; nil when it downloads by itself.
  package let inherited: Source?

  /// The positions of the variants of its entry that wait for its download.
  package let waitingVariants: [Int]

  /// What the entry's last try, and then this one, has left of a download that broke off.
  private let partial: Mutex<PartialDownload?>
  private let admitted = ContinuousClock.now
  private let live: Mutex<Live>

  /// - Parameters:
  ///   - mirror: Which of the entry's URLs is to be used, from 0.
  ///   - attempts: How often the entry was tried before.
  ///   - settings: What is different about this try.
  ///   - lastFailure: The entry's failure in the job's last run; nil when it had none.
  ///   - isCutShort: Whether its time is so short that nothing follows from a host that does not answer.
  ///   - partial: What the last try has left of a download that broke off.
  ///   - earlierMirrors: How the entry's mirrors before this one failed.
  ///   - firstTried: When the entry was first tried, in milliseconds since 1970; nil when that is this time.
  ///   - needsBytes: Whether the result of its source does not stand for it.
  ///   - inherited: What another variant of its entry has downloaded for it.
  ///   - waitingVariants: The positions of the variants of its entry that wait for its download.
  package init(
    _ entry: Entry, run: RunContext, mirror: Int = 0, attempts: Int = 0, settings: HostSettings = HostSettings(),
    lastFailure: LedgerFailure? = nil, isCutShort: Bool = false, partial: PartialDownload? = nil,
    earlierMirrors: [ReportRow.MirrorFailure] = [], firstTried: Int? = nil, needsBytes: Bool = false,
    inherited: Source? = nil,
    waitingVariants: [Int] = []
  ) {
    self.partial = Mutex(partial)
    self.entry = entry
    self.run = run
    self.mirror = mirror
    self.lastFailure = lastFailure
    self.settings = settings
    self.isCutShort = isCutShort
    self.earlierMirrors = earlierMirrors
    self.firstTried = firstTried
    self.needsBytes = needsBytes
    self.inherited = inherited
    self.waitingVariants = waitingVariants
    live = Mutex(Live(attempts: attempts))
  }

  package var id: ID { ID(run: run.number, position: entry.position) }

  /// The URL in use. It may hold secrets.
  package var url: String { entry.urls[mirror] }

  package var snapshot: Live { live.withLock { $0 } }
  package var state: State { live.withLock { $0.state } }
  package var source: Source? { live.withLock { $0.source } }
  package var failure: EntryFailure? { live.withLock { $0.failure } }
  var usage: HostUsage { live.withLock { $0.usage } }

  /// The download is about to begin.
  /// - Returns: Whether it may: in state `new`.
  package func beginDownload() -> Bool {
    let waited = admitted.duration(to: .now)
    return live.withLock {
      guard $0.state == .new else { return false }
      $0.attempts += 1
      $0.hasBegun = true
      $0.timings.queued = waited.milliseconds
      return true
    }
  }

  /// Cancels the record if its download has not begun.
  /// - Returns: Whether it had not.
  package func cancelUnbegun() -> Bool {
    live.withLock {
      guard $0.state == .new, !$0.hasBegun else { return false }
      $0.state = .cancelled
      return true
    }
  }

  /// The transfer has ended, well or not.
  package func usedHost(_ usage: HostUsage) {
    var usage = usage
    if isCutShort, usage.contact.isSilence { usage.contact = .unknown }
    live.withLock { $0.usage = usage }
  }

  /// `new → downloaded`. In any other state nothing changes.
  package func downloaded(_ source: Source, taking time: Duration) {
    live.withLock {
      guard $0.state == .new else { return }
      $0.state = .downloaded
      $0.source = source
      $0.timings.download = time.milliseconds
    }
  }

  /// `downloaded → filtered`. In any other state nothing changes.
  /// - Parameters:
  ///   - artifacts: The result and what is delivered with it.
  ///   - isChanged: Whether the source of the result that was there before has another SHA-256; nil when there was none.
  package func filtered(
    _ result: Result, from picture: ImageInfo, delivering artifacts: [Artifact], isChanged: Bool? = nil,
    taking time: Duration
  ) {
    live.withLock {
      guard $0.state == .downloaded else { return }
      $0.state = .filtered
      $0.source?.picture = picture
      $0.result = result
      $0.artifacts = artifacts
      $0.isSourceChanged = isChanged
      $0.timings.filter = time.milliseconds
    }
  }

  /// Goes on without a file that cannot be delivered.
  package func drop(_ kind: Artifact.Kind) { live.withLock { $0.artifacts.removeAll { $0.kind == kind } } }

  /// `downloaded → filtered`, by a result that is there already. In any other state nothing changes.
  package func reuse(_ delivered: DeliveredResult, delivering artifacts: [Artifact] = [], taking time: Duration) {
    live.withLock {
      guard $0.state == .downloaded else { return }
      $0.state = .filtered
      $0.source?.picture = delivered.sourcePicture
      $0.reused = delivered
      $0.artifacts = artifacts
      $0.isSourceChanged = false
      $0.timings.filter = time.milliseconds
    }
  }

  /// To `failed`, from everywhere but `failed` and `cancelled`: even a result may turn out to be undeliverable.
  package func fail(_ failure: EntryFailure) {
    live.withLock {
      guard $0.state != .failed, $0.state != .cancelled else { return }
      $0.state = .failed
      $0.failure = failure
      $0.failedAt = Clock.monotonicSeconds
      ($0.result, $0.reused, $0.artifacts) = (nil, nil, [])
    }
  }

  /// Replaces the failure of a record that has failed: more is known of its cause.
  package func replaceFailure(_ failure: EntryFailure) {
    live.withLock { if $0.state == .failed { $0.failure = failure } }
  }

  /// Keeps what a download that broke off has left.
  package func keep(_ left: PartialDownload?) { partial.withLock { $0 = left } }

  /// Hands out what a download that broke off has left: from then on the record has nothing.
  package func takePartial() -> PartialDownload? {
    partial.withLock { partial in
      defer { partial = nil }
      return partial
    }
  }

  /// Records that its host had refused requests so often in a row that the entry was given up, before its own tries were
  /// used up.
  package func hostRefused(_ count: Int) { live.withLock { $0.failure?.hostRefusals = count } }

  /// Forgets the files, which are complete in staging and cannot be delivered yet.
  package func forgetFiles() { live.withLock { ($0.result, $0.artifacts) = (nil, []) } }

  /// To `cancelled`, unless the record is terminal.
  package func cancel() {
    live.withLock {
      guard $0.state == .new || $0.state == .downloaded else { return }
      $0.state = .cancelled
    }
  }
}

extension Duration {
  /// The duration in milliseconds, to the microsecond.
  package var milliseconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000) / 1000
  }
}
