import Imaging
import JSON
import Ledger
import System

/// A row of the report: the outcome of an entry. `Documentation/report.schema.json` describes its JSON.
package struct ReportRow: Sendable, Equatable {
  package enum State: String, Sendable { case filtered, failed, cancelled }

  /// The delivered file.
  package struct Output: Sendable, Equatable {
    /// The path, relative to the job's folder.
    package let file: String
    let picture: ImageInfo
    package let bytes: Int
    package let sha256: String
    /// The quality with which it was encoded; nil when it is lossless, a copy, or unknown.
    var quality: Int?
    /// Which metadata of the source was kept; nil when unknown.
    var metadata: MetadataPolicy?
    /// The settings of its `ResultKey`; nil when unknown.
    package var settings: String?
  }

  /// The downloaded source.
  package struct Source: Sendable, Equatable {
    /// nil when it was not decoded.
    package let picture: ImageInfo?
    package let bytes: Int
    package let sha256: String
    /// nil for a file, and for a source that another entry's request downloaded.
    let httpStatus: Int?
    /// Whether the source differs in its SHA-256 from that of the existing result; nil when there was no result, or the
    /// row failed in the last run.
    var isChanged: Bool?
    /// The path, relative to the job's folder; nil when originals are not kept.
    package var file: String?
    /// The server's `ETag` and `Last-Modified`; nil when it sent none, and when the row does not describe the whole request.
    var etag: String?
    var lastModified: String?
  }

  /// A problem with which the row still succeeds.
  package struct Warning: Sendable, Equatable {
    /// Stable codes.
    package enum Code: String, Sendable, CaseIterable {
      /// Metadata of a copied picture that could not be read, and were left out, or that may still be in the copy.
      case metadataUnreadable = "metadata-unreadable"
      /// A damaged picture whose visible parts do not depend on the damage.
      case harmlessDamage = "harmless-damage"
      /// A damaged picture whose colours or orientation (for a copy, also its pixels) may be wrong.
      case visibleDamage = "visible-damage"
      /// A picture of which pixels are missing or wrong; only where these are accepted.
      case pixelDamage = "pixel-damage"
    }

    package let code: Code
    /// For people.
    package let message: String

    package init(code: Code, message: String) {
      self.code = code
      self.message = message
    }
  }

  /// The durations of the stages, in milliseconds.
  package struct Timings: Sendable, Equatable {
    var queued: Double?
    package var download: Double?
    package var filter: Double?
  }

  package struct Failure: Sendable, Equatable {
    package let stage: String
    package let code: String
    package let message: String
    package let httpStatus: Int?
    package let isRetryable: Bool
    /// When the row first failed without succeeding since: RFC 3339, UTC, with milliseconds. nil for a failure without
    /// a row.
    package var firstSeen: String?
    /// The number of consecutive runs in which the row failed, this one included; nil for a failure without a row.
    package var runs: Int?
    /// How often in a row the host had refused requests; nil unless the entry failed for that with tries left.
    var hostRefusals: Int?
    /// The failures of all URLs of an entry with mirrors, in their order. Default: none.
    var mirrors: [MirrorFailure] = []
  }

  /// The failure of one of an entry's URLs.
  package struct MirrorFailure: Sendable, Equatable {
    /// Without secrets.
    let url: String
    let code: String
    let httpStatus: Int?
  }

  /// The number of the line in the manifest, from 0.
  package var index: Int
  package let name: String
  /// The name of the variant; nil for an entry without variants.
  package var variant: String?

  package let url: String
  let finalURL: String?
  package var state: State
  package let isReused: Bool
  let isCoalesced: Bool
  /// Whether the row has a result, and failed in the last run.
  var isRecovered = false
  var priority: String
  let attempts: Int
  package var output: Output?
  /// The paths of the files made from the result, relative to the job's folder.
  package var derived: [Artifact.Kind: String] = [:]
  package var source: Source?
  let filters: String
  package let timings: Timings
  package var failure: Failure?
  var warnings: [Warning] = []
  var metadata: JSONValue?

  package var title: String { variant.map { "\(name) (\($0))" } ?? name }

  /// Why the row failed, for people; nil unless it failed. Of a picture that could not be filtered it begins with the URL, as
  /// messages of downloads do themselves.
  package var reason: String? {
    failure.map { $0.stage == FailureCode.Stage.filter.rawValue ? "\(url): \($0.message)" : $0.message }
  }

  /// Whether the server has answered that the source is still the one that was downloaded before.
  package var isSourceConfirmed: Bool { source?.httpStatus == 304 }

  /// The bytes that were downloaded for this row. Files from the cache, downloads for other entries and files that have not
  /// changed do not count.
  package var downloadedBytes: Int {
    isCoalesced || isSourceConfirmed || isReused && source?.httpStatus == nil ? 0 : source?.bytes ?? 0
  }

  /// The bytes of source and result that were written to disk. A source that is also the result counts twice.
  package var writtenBytes: Int { downloadedBytes + (isReused ? 0 : output?.bytes ?? 0) }

  /// The row of an entry whose result could not be delivered.
  /// - Parameter last: The entry's failure in the last run; nil when it did not fail.
  package func failed(_ failure: EntryFailure, after last: LedgerFailure? = nil) -> ReportRow {
    var row = self
    (row.state, row.output, row.derived) = (.failed, nil, [:])
    row.failure = Failure(failure, after: last)
    row.isRecovered = false
    row.source?.isChanged = nil
    row.source?.file = nil
    return row
  }

  /// The row as one of the run after that in which it failed: shards do not know the job's last run.
  /// - Parameter runs: In how many runs in a row it had failed.
  package func following(_ last: LedgerFailure, runs: Int) -> ReportRow {
    var row = self
    if let failure {
      row.failure?.firstSeen = last.firstSeen
      row.failure?.runs = runs + (failure.runs ?? 1)
    } else if state == .filtered {
      row.isRecovered = true
      row.source?.isChanged = nil
    }
    return row
  }

  /// The failure with which the next run compares the row; nil unless the row failed.
  /// - Parameter name: The name of the output.
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
  ///   - last: The row's failure in the last run; nil when it did not fail.
  ///   - firstTried: When it was first tried in this run, in milliseconds since 1970, if it failed then. Default: nil,
  ///     now.
  init(_ failure: EntryFailure, after last: LedgerFailure?, since firstTried: Int? = nil) {
    self.init(failure)
    firstSeen = last?.firstSeen ?? JSONValue.time(firstTried ?? Clock.wallMilliseconds).string
    runs = (last?.runs ?? 0) + 1
  }
}
