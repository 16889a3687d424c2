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

  /// A downloaded source.
  package struct Source: Sendable, Equatable {
    package let finalURL: String
    package let httpStatus: Int?
    package let bytes: Int
    package let sha256: String
    package var picture: ImageInfo?

    /// Whether the bytes are, if anywhere, in the cache, and not in staging.
    package var isCached = false

    /// Whether they were downloaded for another entry of the same run.
    package var isCoalesced = false

    /// The media type from the server, with its parameters; nil when it sent none, and for pictures from the cache.
    package var contentType: String?

    /// Whether only the result exists, and the cache does not have the bytes either.
    package var isOfResult = false

    /// The answer from which it was downloaded; nil when it cannot be used to ask whether the source has changed.
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

    /// Whether other entries use the same bytes, which must then be checked.
    package var isShared: Bool { isCached || isCoalesced }
  }

  /// A result of a filtration.
  package struct Result: Sendable {
    package let picture: ImageInfo
    package let key: ResultKey
    /// The quality with which it was encoded; nil when it is lossless or a copy.
    package var quality: Int?
    /// Warnings for the row.
    package var warnings: [ReportRow.Warning] = []

    package init(picture: ImageInfo, key: ResultKey, quality: Int? = nil, warnings: [ReportRow.Warning] = []) {
      self.picture = picture
      self.key = key
      self.quality = quality
      self.warnings = warnings
    }
  }

  /// The mutable state.
  package struct Live: Sendable {
    package var state = State.new
    /// Whether this record's operations have begun the download.
    var hasBegun = false
    @Indirect package var source: Source?
    @Indirect package var result: Result?
    /// The existing result that is used instead of a new one.
    @Indirect package var reused: DeliveredResult?
    /// The files to deliver. They are complete, in staging or in the outbox.
    package var artifacts: [Artifact] = []
    package var failure: EntryFailure?
    /// Whether the source differs in its SHA-256 from that of the existing result; nil when there was no result.
    var isSourceChanged: Bool?
    /// When the record failed, as `Clock.monotonicSeconds`.
    package var failedAt: Double?
    var timings = ReportRow.Timings()
    /// The source, if it is delivered before the result.
    package var original: EarlyOriginal?
    /// When its download or its filtration began, the later of both, in milliseconds of `Clock.monotonicMilliseconds`; nil before.
    package var stageBegan: Int?
    /// How many downloads were begun, including those of earlier tries.
    package var attempts: Int
    /// The use of the host by the download.
    package var usage = HostUsage()
  }

  /// Identifies a record among those of all live runs.
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

  /// The index of the URL in use among the entry's URLs, from 0.
  package let mirror: Int

  /// The entry's failure in the job's last run; nil when it did not fail.
  let lastFailure: LedgerFailure?

  /// Whether the whole source is requested again, because the last run could not decode it: it may have been cut off or damaged
  /// on its way, by or before a server that would confirm it as unchanged.
  package var doubtsSource: Bool {
    let codes = [FailureCode.filter(.imageTruncated), .filter(.imageCorrupt), .filter(.notAnImage)]
    return codes.contains { $0.text == lastFailure?.code }
  }

  /// The failures of the entry's mirrors before this one, in their order.
  package let earlierMirrors: [ReportRow.MirrorFailure]

  /// When the entry was first tried, in milliseconds since 1970; nil when this is the first try.
  package let firstTried: Int?

  /// The settings of this try.
  package let settings: HostSettings

  /// Whether the time limit is so short that a timeout does not count against the host.
  let isCutShort: Bool

  /// Whether the last try found that the bytes of its source are missing, so that its result cannot be reused.
  package let needsBytes: Bool

  /// The source that another variant of its entry has downloaded; nil when the record downloads it.
  package let inherited: Source?

  /// The positions of the entry's variants that wait for this download.
  package let waitingVariants: [Int]

  /// The beginning of a source whose download broke off, from the last try or from this one.
  private let partial: Mutex<PartialDownload?>
  /// The downloaded bytes, from the end of the download until the filtration takes them; nil when they are in a file.
  private let body = Mutex<BodyBytes?>(nil)
  private let admitted = ContinuousClock.now
  private let live: Mutex<Live>

  /// - Parameters:
  ///   - mirror: The index of the URL to use among the entry's URLs, from 0.
  ///   - attempts: How often the entry was tried before.
  ///   - settings: The settings of this try.
  ///   - lastFailure: The entry's failure in the job's last run; nil when it did not fail.
  ///   - isCutShort: Whether the time limit is so short that a timeout does not count against the host.
  ///   - partial: The beginning of the source, if the last download broke off.
  ///   - earlierMirrors: The failures of the entry's mirrors before this one.
  ///   - firstTried: When the entry was first tried, in milliseconds since 1970; nil when this is the first try.
  ///   - needsBytes: Whether its result cannot be reused without the bytes of its source.
  ///   - inherited: The source that another variant of its entry has downloaded.
  ///   - waitingVariants: The positions of the entry's variants that wait for this download.
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
  package var original: EarlyOriginal? { live.withLock { $0.original } }
  package var failedAt: Double? { live.withLock { $0.failedAt } }
  package var stageBegan: Int? { live.withLock { $0.stageBegan } }
  package var attempts: Int { live.withLock { $0.attempts } }
  var usage: HostUsage { live.withLock { $0.usage } }

  /// Records that the download begins.
  /// - Returns: Whether it may begin, which requires the state `new`.
  package func beginDownload() -> Bool {
    let waited = admitted.duration(to: .now)
    return live.withLock {
      guard $0.state == .new else { return false }
      $0.attempts += 1
      $0.hasBegun = true
      $0.stageBegan = Clock.monotonicMilliseconds
      $0.timings.queued = waited.milliseconds
      return true
    }
  }

  /// Cancels the record if its download has not begun.
  /// - Returns: Whether the record was cancelled.
  package func cancelUnbegun() -> Bool {
    live.withLock {
      guard $0.state == .new, !$0.hasBegun else { return false }
      $0.state = .cancelled
      return true
    }
  }

  /// Records how the transfer used its host, whether or not it succeeded.
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

  /// Records that the source is in staging, to be delivered before the result.
  package func staged(_ original: EarlyOriginal) { live.withLock { $0.original = original } }

  /// Records that the source, which was in staging, has its final name.
  package func deliveredOriginal() { live.withLock { $0.original?.isDelivered = true } }

  /// Records that the filtration begins.
  package func beginFiltration() { live.withLock { $0.stageBegan = Clock.monotonicMilliseconds } }

  /// `downloaded → filtered`. In any other state nothing changes.
  /// - Parameters:
  ///   - artifacts: The result and what is delivered with it.
  ///   - isChanged: Whether the source differs in its SHA-256 from that of the existing result; nil when there was no
  ///     result.
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

  /// Drops a file that cannot be delivered. The other files are still delivered.
  package func drop(_ kind: Artifact.Kind) { live.withLock { $0.artifacts.removeAll { $0.kind == kind } } }

  /// `downloaded → filtered`, with an existing result. In any other state nothing changes.
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

  /// Records that a file begins to be read, to find out whether it is unchanged.
  package func beginCheck() { live.withLock { $0.stageBegan = Clock.monotonicMilliseconds } }

  /// `new → filtered`, with the existing result of an unchanged file, for which no operation was needed. In any other state nothing
  /// changes.
  /// - Parameters:
  ///   - began: When the file began to be read.
  ///   - read: When it was read.
  package func confirm(
    _ source: Source, with delivered: DeliveredResult, since began: ContinuousClock.Instant,
    read: ContinuousClock.Instant
  ) {
    let now = ContinuousClock.now
    live.withLock {
      guard $0.state == .new else { return }
      ($0.state, $0.source, $0.reused) = (.filtered, source, delivered)
      $0.source?.picture = delivered.sourcePicture
      $0.isSourceChanged = false
      $0.attempts += 1
      $0.timings.queued = admitted.duration(to: began).milliseconds
      $0.timings.download = began.duration(to: read).milliseconds
      $0.timings.filter = read.duration(to: now).milliseconds
    }
  }

  /// To `failed`, except from `failed` and `cancelled`. Even the result of a filtered record may be undeliverable.
  package func fail(_ failure: EntryFailure) {
    live.withLock {
      guard $0.state != .failed, $0.state != .cancelled else { return }
      $0.state = .failed
      $0.failure = failure
      $0.failedAt = Clock.monotonicSeconds
      ($0.result, $0.reused, $0.artifacts) = (nil, nil, [])
    }
  }

  /// Replaces the failure of a failed record when its cause becomes known.
  package func replaceFailure(_ failure: EntryFailure) {
    live.withLock { if $0.state == .failed { $0.failure = failure } }
  }

  /// Keeps the beginning of a source whose download broke off.
  package func keepPartial(_ left: PartialDownload?) { partial.withLock { $0 = left } }

  /// Returns the beginning of a source whose download broke off, and gives up ownership of it.
  package func takePartial() -> PartialDownload? {
    partial.withLock { partial in
      defer { partial = nil }
      return partial
    }
  }

  /// Keeps the bytes of a source that is not in a file.
  package func keepBytes(_ bytes: BodyBytes?) { body.withLock { $0 = bytes } }

  /// The bytes of the source, for others that need the same; nil when they are in a file.
  package var bodyBytes: BodyBytes? { body.withLock { $0 } }

  /// Returns the bytes of the source, and gives them up.
  package func takeBytes() -> BodyBytes? {
    body.withLock { body in
      defer { body = nil }
      return body
    }
  }

  /// Records how often in a row the host had refused requests when the entry was given up, before its own tries were
  /// used up.
  package func hostRefused(_ count: Int) { live.withLock { $0.failure?.hostRefusals = count } }

  /// Drops the files, which are complete in staging and cannot be delivered yet.
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
  /// The duration in milliseconds, with microsecond resolution.
  package var milliseconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds * 1_000_000 + attoseconds / 1_000_000_000_000) / 1000
  }
}
