import JSON
import Transfer

/// The answer to a request for a source, as far as it matters for whether the source has changed since.
struct SourceAnswer: Sendable, Equatable {
  /// The request: a `CacheKey`, as text.
  let request: String

  /// By what a server is asked whether the source has changed; nil when it sent nothing, and for what is asked for once in each
  /// run: then the answer says nothing to later runs but those that replace its own.
  let validators: Validators?

  /// The URL that answered, redirects followed, as reports show it.
  let finalURL: String

  /// What the server said that the source is, with its parameters; nil for pictures, and when it said nothing.
  let contentType: String?

  /// The size of the source.
  let bytes: Int

  /// When it was asked, in milliseconds since 1970, UTC.
  let time: Int

  /// Whether another answer tells the same of the source, whenever that was.
  fileprivate func tellsTheSame(as other: Self) -> Bool {
    (request, validators, finalURL, contentType, bytes)
      == (other.request, other.validators, other.finalURL, other.contentType, other.bytes)
  }

  var json: JSONValue {
    .object([
      "request": .string(request), "etag": (validators?.etag).map { .string($0) },
      "last_modified": (validators?.lastModified).map { .string($0) },
      "answered": (validators?.urlDigest).map { .string($0) },
      "final_url": .string(finalURL), "content_type": contentType.map { .string($0) }, "bytes": .integer(bytes),
      "time": .integer(time),
    ])
  }
}

extension SourceAnswer {
  /// - Returns: nil for what another version wrote and this one does not understand.
  init?(_ value: JSONValue?) {
    guard let value, let request = value["request"]?.string, let finalURL = value["final_url"]?.string,
      let bytes = value["bytes"]?.integer, let time = value["time"]?.integer
    else { return nil }
    self.init(
      request: request,
      validators: value["answered"]?.string.map { answered in
        Validators(etag: value["etag"]?.string, lastModified: value["last_modified"]?.string, urlDigest: answered)
      },
      finalURL: finalURL, contentType: value["content_type"]?.string, bytes: bytes, time: time)
  }

  /// What is known of a source.
  init(_ source: CachedSource, of request: CacheKey) {
    self.init(
      request: request.text, validators: source.asked.isOnce ? nil : source.validators, finalURL: source.finalURL,
      contentType: source.contentType,
      bytes: source.bytes, time: source.asked.time)
  }

  /// The source, whose bytes nobody has.
  func source(sha256: String) -> CachedSource {
    CachedSource(
      sha256: sha256, bytes: bytes, finalURL: finalURL, validators: validators,
      asked: CachedSource.Asked(runID: "", position: -1, httpStatus: 200, time: time), contentType: contentType,
      isOfResult: true)
  }
}

extension PhotoRecord.Source {
  /// Its answer, if a result of it is to keep that in place of an earlier one. When the cache has the source, too, that knows when
  /// it was asked for last.
  func news(after known: SourceAnswer?) -> SourceAnswer? {
    guard let answer else { return nil }
    return known?.tellsTheSame(as: answer) == true && !(isOfResult && known?.time != answer.time) ? nil : answer
  }
}
