import Database
import Transfer

/// A source that was downloaded before, and whose bytes, or whose result, are there still.
struct CachedSource: Sendable, Equatable {
  /// The SHA-256 of its bytes, in lower-case hexadecimal.
  let sha256: String
  let bytes: Int

  /// The URL that answered, redirects followed, as reports show it.
  let finalURL: String

  /// What to ask by whether it has changed; nil when the server sent nothing.
  let validators: Validators?

  /// Who asked for it last.
  let asked: Asked

  /// What the server said that they are, with its parameters; nil for pictures, and when it said nothing.
  var contentType: String?

  /// Whether the cache does not have it: nobody needs its bytes, because its result is there.
  var isOfResult = false

  /// A request that was answered.
  struct Asked: Sendable, Equatable {
    /// The run: within it, it is not asked again.
    let runID: String

    /// The entry's place in its manifest.
    let position: Int

    /// 200 or 304.
    let httpStatus: Int

    /// When, in milliseconds since 1970, UTC.
    var time = 0

    /// Whether the answer is for the run only, as that to a request that is no GET: it goes with the run.
    var isOnce = false
  }

  /// The same source, which a server has said to be what it was.
  func confirmed(by outcome: TransferOutcome, to asked: Asked) -> CachedSource {
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
  static let columns: Columns = [
    "sha256", "final_url", "etag", "last_modified", "answered", "run", "position", "status", "once",
    "content_type",
  ]

  /// - Parameter row: `columns`, and after them the size of the file.
  init(_ row: Statement) {
    let run = (row.text(5) ?? "").split(separator: " ")
    self.init(
      sha256: row.text(0) ?? "", bytes: row.integer(Int32(Self.columns.count)), finalURL: row.text(1) ?? "",
      validators: row.text(4).map { Validators(etag: row.text(2), lastModified: row.text(3), urlDigest: $0) },
      asked: Asked(
        runID: run.first.map(String.init) ?? "", position: row.integer(6), httpStatus: row.integer(7),
        time: run.dropFirst().first.flatMap { Int($0) } ?? 0, isOnce: row.text(8) != nil),
      contentType: row.text(9))
  }

  var values: [SQLiteValue] {
    [
      .text(sha256), .text(finalURL), .optional(validators?.etag), .optional(validators?.lastModified),
      .optional(validators?.urlDigest), .text("\(asked.runID) \(asked.time)"), .integer(asked.position),
      .integer(asked.httpStatus), .optional(asked.isOnce ? asked.runID : nil),
      .optional(contentType),
    ]
  }
}
