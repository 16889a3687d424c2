import Imaging
import JSON
import Ledger
import System

/// A row of the report: what became of an entry. Its JSON is described by `Documentation/report.schema.json`.
package struct ReportRow: Sendable, Equatable {
  package enum State: String, Sendable { case filtered, failed, cancelled }

  /// The delivered file.
  package struct Output: Sendable, Equatable {
    /// Path beneath the job's folder.
    package let file: String
    let picture: ImageInfo
    package let bytes: Int
    package let sha256: String
    /// The quality with which it was encoded; nil when it is lossless or a copy, and when it is not known.
    var quality: Int?
    /// What was kept of the source's metadata; nil when it is not known.
    var metadata: MetadataPolicy?
  }

  /// What was downloaded.
  package struct Source: Sendable, Equatable {
    /// nil when it was not decoded.
    package let picture: ImageInfo?
    package let bytes: Int
    package let sha256: String
    /// nil for a file, and for what came with another entry's request.
    let httpStatus: Int?
    /// Whether the source of the result that was there before has another SHA-256; nil when there was none, or the row
    /// failed in the last run.
    var isChanged: Bool?
    /// Path beneath the job's folder; nil when it is not kept there.
    package var file: String?
  }

  /// What is doubtful about a row although it did not fail by it.
  package struct Warning: Sendable, Equatable {
    /// Stable codes.
    package enum Code: String, Sendable, CaseIterable {
      /// Metadata of a picture that was copied could not be read, and was left out.
      case metadataUnreadable = "metadata-unreadable"
      /// A picture is damaged where nothing that can be seen depends on it.
      case harmlessDamage = "harmless-damage"
      /// A picture is damaged such that its colours or its orientation, in a copy also its pixels, may be wrong.
      case visibleDamage = "visible-damage"
    }

    package let code: Code
    /// For people.
    package let message: String

    package init(code: Code, message: String) {
      self.code = code
      self.message = message
    }
  }

  /// How long the stages took, in milliseconds.
  struct Timings: Sendable, Equatable {
    var queued: Double?
    var download: Double?
    var filter: Double?
  }

  package struct Failure: Sendable, Equatable {
    package let stage: String
    package let code: String
    package let message: String
    package let httpStatus: Int?
    package let isRetryable: Bool
    /// When the row first failed without having succeeded since: RFC 3339, UTC, with milliseconds. nil for a failure
    /// that is not a row's.
    package var firstSeen: String?
    /// How many runs in a row the row has failed, this one included; nil for a failure that is not a row's.
    package var runs: Int?
    /// How often in a row the host had refused requests when the entry was given up, if it was tried less often itself.
    var hostRefusals: Int?
    /// How each URL of an entry with several failed, in their order. Default: none.
    var mirrors: [MirrorFailure] = []
  }

  /// How one of an entry's URLs failed.
  package struct MirrorFailure: Sendable, Equatable {
    /// Without secrets.
    let url: String
    let code: String
    let httpStatus: Int?
  }

  /// Place in the manifest, from 0.
  package var index: Int
  package let name: String
  /// The name of the variant; nil for an entry without.
  package var variant: String?
  package let url: String
  let finalURL: String?
  package var state: State
  package let isReused: Bool
  let isCoalesced: Bool
  /// Whether it has a result, and failed in the last run.
  var isRecovered = false
  var priority: String
  let attempts: Int
  package var output: Output?
  /// Paths of what was made of the result, beneath the job's folder.
  package var derived: [Artifact.Kind: String] = [:]
  package var source: Source?
  let filters: String
  let timings: Timings
  package var failure: Failure?
  var warnings: [Warning] = []
  var metadata: JSONValue?

  package var title: String { variant.map { "\(name) (\($0))" } ?? name }

  /// The bytes that were downloaded for this row: not for a file of the cache, or another entry's.
  package var downloadedBytes: Int { isCoalesced || source?.httpStatus == 304 ? 0 : source?.bytes ?? 0 }

  /// The bytes that source and result took on disk; a source that is the result counts twice.
  package var writtenBytes: Int { downloadedBytes + (isReused ? 0 : output?.bytes ?? 0) }

  /// The row of an entry whose result turned out to be undeliverable.
  /// - Parameter last: Its failure in the last run; nil when it had none.
  package func failed(_ failure: EntryFailure, after last: LedgerFailure? = nil) -> ReportRow {
    var row = self
    (row.state, row.output, row.derived) = (.failed, nil, [:])
    row.failure = Failure(failure, after: last)
    row.isRecovered = false
    row.source?.isChanged = nil
    row.source?.file = nil
    return row
  }

  /// What the next run compares the row with; nil unless it failed.
  /// - Parameter name: Of the output.
  package func ledgerFailure(name: String) -> LedgerFailure? {
    failure.map {
      LedgerFailure(name: name, firstSeen: $0.firstSeen ?? "", runs: $0.runs ?? 1, code: $0.code)
    }
  }
}

extension ReportRow.MirrorFailure {
  /// - Parameter url: Without secrets.
  package init(_ failure: EntryFailure, of url: String) {
    self.init(url: url, code: failure.code.text, httpStatus: failure.httpStatus)
  }
}

extension ReportRow.Failure {
  package init(_ failure: EntryFailure) {
    self.init(
      stage: failure.code.stage.rawValue, code: failure.code.text, message: failure.message,
      httpStatus: failure.httpStatus, isRetryable: failure.isRetryable, hostRefusals: failure.hostRefusals)
  }

  /// The failure of a row that fails now.
  /// - Parameters:
  ///   - last: Its failure in the last run; nil when it had none.
  ///   - firstTried: When it was first tried in this run, if it failed then, in milliseconds since 1970. Default: nil, now.
  init(_ failure: EntryFailure, after last: LedgerFailure?, since firstTried: Int? = nil) {
    self.init(failure)
    firstSeen = last?.firstSeen ?? JSONValue.time(firstTried ?? Clock.wallMilliseconds).string
    runs = (last?.runs ?? 0) + 1
  }
}
