import Imaging
import JSON

/// A row of the report: what became of an entry. Its JSON is described by `Documentation/report.schema.json`.
package struct ReportRow: Sendable, Equatable {
  package enum State: String, Sendable { case filtered, failed, cancelled }

  /// The delivered file.
  struct Output: Sendable, Equatable {
    /// Path beneath the job's folder.
    let file: String
    let picture: ImageInfo
    let bytes: Int
    let sha256: String
  }

  /// What was downloaded.
  struct Source: Sendable, Equatable {
    /// nil when it was not decoded.
    let picture: ImageInfo?
    let bytes: Int
    let sha256: String
    /// nil for a file, and for what came with another entry's request.
    let httpStatus: Int?
  }

  /// How long the stages took, in milliseconds.
  struct Timings: Sendable, Equatable {
    var queued: Double?
    var download: Double?
    var filter: Double?
  }

  /// Why the entry failed.
  package struct Failure: Sendable, Equatable {
    package let stage: String
    package let code: String
    package let message: String
    package let httpStatus: Int?
    package let isRetryable: Bool
  }

  /// Place in the manifest, from 0.
  package let index: Int
  package let name: String
  let url: String
  let finalURL: String?
  package var state: State
  package let isReused: Bool
  let isCoalesced: Bool
  let priority: String
  let attempts: Int
  var output: Output?
  let source: Source?
  let filters: String
  let timings: Timings
  package var failure: Failure?
  let metadata: JSONValue?

  /// The row of an entry whose result turned out to be undeliverable.
  func failed(_ failure: EntryFailure) -> ReportRow {
    var row = self
    (row.state, row.output, row.failure) = (.failed, nil, Failure(failure))
    return row
  }
}

extension ReportRow.Failure {
  init(_ failure: EntryFailure) {
    self.init(
      stage: failure.code.stage.rawValue, code: failure.code.text, message: failure.message,
      httpStatus: failure.httpStatus, isRetryable: failure.isRetryable)
  }
}
