import Database
import System
import Transfer

/// A source that was downloaded before, and whose bytes, or whose result, are there still.
package struct CachedSource: Sendable, Equatable {
  /// The SHA-256 of its bytes, in lower-case hexadecimal.
  package let sha256: String
  package let bytes: Int

  /// The URL that answered, redirects followed, as reports show it.
  package let finalURL: String

  /// What to ask by whether it has changed; nil when the server sent nothing.
  package let validators: Validators?

  /// Who asked for it last.
  package let asked: Asked

  /// What the server said that they are, with its parameters; nil for pictures, and when it said nothing.
  package var contentType: String?

  /// Whether the cache does not have it: nobody needs its bytes, because its result is there.
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
    /// The run: within it, it is not asked again.
    package let runID: String

    /// The entry's place in its manifest.
    package let position: Int

    /// 200 or 304.
    package let httpStatus: Int

    /// When, in milliseconds since 1970, UTC.
    package var time = 0

    /// Whether the answer is for the run only, as that to a request that is no GET: it goes with the run.
    package var isOnce = false

    package init(runID: String, position: Int, httpStatus: Int, time: Int = 0, isOnce: Bool = false) {
      self.runID = runID
      self.position = position
      self.httpStatus = httpStatus
      self.time = time
      self.isOnce = isOnce
    }
  }

  /// The same source, which a server has said to be what it was.
  package func confirmed(by outcome: TransferOutcome, to asked: Asked) -> CachedSource {
    CachedSource(
      sha256: sha256, bytes: bytes, finalURL: outcome.finalURL, validators: outcome.validators ?? validators,
      asked: asked, contentType: contentType, isOfResult: isOfResult)
  }
}

/// A source as a row of the index's table `sources`, which says what a request returned. The size of the file is in its row
/// of `objects`.
extension CachedSource {
  /// `answered` is null when there are no validators; `run` (its name and the time), `position` and `status` are of the last
  /// request; `once` is the run's name when the answer is for that run only.
  package static let columns: Columns = [
    "sha256", "final_url", "etag", "last_modified", "answered", "run", "position", "status", "once",
    "content_type",
  ]

  /// - Parameter row: `columns`, and after them the size of the file.
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
      .integer(asked.httpStatus), .optional(asked.isOnce ? asked.runID : nil),
      .optional(contentType),
    ]
  }
}
