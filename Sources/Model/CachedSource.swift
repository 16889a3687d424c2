import Database
import System
import Transfer

/// A source that was downloaded before, and whose bytes or result still exist.
package struct CachedSource: Sendable, Equatable {
  /// The SHA-256 of its bytes, in lower-case hexadecimal.
  package let sha256: String
  package let bytes: Int

  /// The URL that answered, redirects followed, as reports show it.
  package let finalURL: String

  /// The validators for a conditional request; nil when the server sent none.
  package let validators: Validators?

  /// The last request for it.
  package let asked: Asked

  /// The media type that the server sent, with its parameters; nil for pictures, and when it sent none.
  package var contentType: String?

  /// Whether only the result exists: the cache does not hold the source's bytes, which the result does not need.
  package var isOfResult = false

  package init(
    sha256: String, bytes: Int, finalURL: String, validators: Validators?, asked: Asked, contentType: String? = nil,
    isOfResult: Bool = false
  ) {
    self.sha256 = sha256
    self.bytes = bytes
    self.finalURL = finalURL
    self.validators = validators
    self.asked = asked
    self.contentType = contentType
    self.isOfResult = isOfResult
  }

  /// A request that was answered.
  package struct Asked: Sendable, Equatable {
    /// The run that sent it. Within this run the source is not requested again.
    package let runID: String

    /// The entry's position in its manifest.
    package let position: Int

    /// 200 or 304.
    package let httpStatus: Int

    /// When it was sent, in milliseconds since 1970, UTC.
    package var time = 0

    /// Whether the answer is valid for this run only, because the method is not GET. It is removed with the run.
    package var isOnce = false

    package init(runID: String, position: Int, httpStatus: Int, time: Int = 0, isOnce: Bool = false) {
      self.runID = runID
      self.position = position
      self.httpStatus = httpStatus
      self.time = time
      self.isOnce = isOnce
    }
  }

  /// The same source after a server has confirmed that it is unchanged. The validators stay those of its bytes: of a server that
  /// compares dates only, those of the answer may belong to other bytes, which the next request with them would never get.
  package func confirmed(by outcome: TransferOutcome, to asked: Asked) -> CachedSource {
    CachedSource(
      sha256: sha256, bytes: bytes, finalURL: outcome.finalURL, validators: validators ?? outcome.validators,
      asked: asked, contentType: contentType, isOfResult: isOfResult)
  }
}

/// A source as a row of the index's table `sources`, which maps requests to sources. The size of the file is in its row
/// of `objects`.
extension CachedSource {
  /// `answered` is null without validators; `run` (its name and the time), `position` and `status` belong to the last
  /// request; `once` is the run's name when the answer is valid for that run only.
  package static let columns: Columns = [
    "sha256", "final_url", "etag", "last_modified", "answered", "run", "position", "status", "once",
    "content_type",
  ]

  /// - Parameter row: `columns`, followed by the size of the file.
  package init(_ row: Statement) {
    let run = (row.text(5) ?? "").fields(" ")
    self.init(
      sha256: row.text(0) ?? "", bytes: row.integer(Int32(Self.columns.count)), finalURL: row.text(1) ?? "",
      validators: row.text(4).map { Validators(etag: row.text(2), lastModified: row.text(3), urlDigest: $0) },
      asked: Asked(
        runID: run.first ?? "", position: row.integer(6), httpStatus: row.integer(7),
        time: run.dropFirst().first.flatMap { Int($0) } ?? 0, isOnce: row.text(8) != nil),
      contentType: row.text(9))
  }

  package var values: [SQLiteValue] {
    [
      .text(sha256), .text(finalURL), .optional(validators?.etag), .optional(validators?.lastModified),
      .optional(validators?.urlDigest), .text("\(asked.runID) \(asked.time)"), .integer(asked.position),
      .integer(asked.httpStatus), .optional(asked.isOnce ? asked.runID : nil), .optional(contentType),
    ]
  }
}
