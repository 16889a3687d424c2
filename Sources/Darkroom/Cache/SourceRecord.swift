import Database
import Transfer

/// A row of the index's table `sources`: what a request returned. The size of the file is in its row of `objects`.
struct SourceRecord {
  private let sha256: String
  private let finalURL: String
  private let validators: Validators?
  private let asked: CachedSource.Asked
  private let contentType: String?

  init(_ source: CachedSource) {
    (sha256, finalURL, validators, asked) = (source.sha256, source.finalURL, source.validators, source.asked)
    contentType = source.contentType
  }

  /// - Parameter bytes: The size of the file.
  func source(bytes: Int) -> CachedSource {
    CachedSource(
      sha256: sha256, bytes: bytes, finalURL: finalURL, validators: validators, asked: asked,
      contentType: contentType)
  }
}

extension SourceRecord: DatabaseRecord {
  /// `answered` is null when there are no validators; `run` (its name and the time), `position` and `status` are of the last
  /// request; `once` is the run's name when the answer is for that run only.
  static let columns: Columns = [
    "sha256", "final_url", "etag", "last_modified", "answered", "run", "position", "status", "once",
    "content_type",
  ]

  init(_ row: Statement) {
    sha256 = row.text(0) ?? ""
    finalURL = row.text(1) ?? ""
    validators = row.text(4).map { Validators(etag: row.text(2), lastModified: row.text(3), urlDigest: $0) }
    let run = (row.text(5) ?? "").split(separator: " ")
    asked = CachedSource.Asked(
      runID: run.first.map(String.init) ?? "", position: row.integer(6), httpStatus: row.integer(7),
      time: run.dropFirst().first.flatMap { Int($0) } ?? 0, isOnce: row.text(8) != nil)
    contentType = row.text(9)
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
