import System
import Transfer

/// The parts of an answer that are needed to find out whether a source has changed.
package struct SourceAnswer: Sendable, Equatable {
  /// The request, as text of a `CacheKey`.
  package let request: String

  /// The validators for a conditional request; nil when the server sent none, and for requests that are sent once per
  /// run, whose answers are valid only for that run and those that replace it.
  let validators: Validators?

  /// The URL that answered, redirects followed, as reports show it.
  let finalURL: String

  /// The media type that the server sent, with its parameters; nil for pictures, and when it sent none.
  let contentType: String?

  let bytes: Int

  /// When the request was sent, in milliseconds since 1970, UTC.
  let time: Int

  /// As `CacheKey.isShownByURL`. Not stored.
  var isShownByURL = false

  /// The text that the ledger stores: one line for each value. Values contain no line breaks.
  var text: String {
    """
    \(time)
    \(finalURL)
    \(contentType ?? "")
    \(question)
    """
  }

  /// The request and its validators: the end of `text`.
  fileprivate var question: String {
    """
    \(request)
    \(bytes)
    \(validators?.urlDigest ?? "")
    \(validators?.etag ?? "")
    \(validators?.lastModified ?? "")
    """
  }
}

extension SourceAnswer {
  /// - Returns: nil for a text that another version wrote and this one cannot read.
  package init?(text: String) {
    let lines = text.fields("\n", omittingEmpty: false)
    guard lines.count == 8, let time = Int(lines[0]), let bytes = Int(lines[4]) else { return nil }
    func value(_ line: Int) -> String? { lines[line].isEmpty ? nil : lines[line] }
    let validators = value(5).map { Validators(etag: value(6), lastModified: value(7), urlDigest: $0) }
    self.init(
      request: lines[3], validators: validators, finalURL: lines[1], contentType: value(2), bytes: bytes, time: time)
  }

  /// The answer that a row of a report shows.
  /// - Returns: nil without validators, and when they are unusable: others may have written the report.
  init?(_ row: ReportRow) {
    guard let source = row.source, let location = try? SourceLocation(parsing: row.url),
      let answered = try? SourceLocation(parsing: row.finalURL ?? row.url)
    else { return nil }
    let values = [source.etag, source.lastModified].compactMap { $0 }
    guard !values.isEmpty, values.allSatisfy(Validators.isUsable) else { return nil }
    self.init(
      request: CacheKey(location).text,
      validators: Validators(etag: source.etag, lastModified: source.lastModified, urlDigest: answered.requestDigest),
      finalURL: row.finalURL ?? row.url, contentType: nil, bytes: source.bytes, time: 0)
  }

  /// The validators, if a row shows the whole request; nil otherwise.
  var shownValidators: Validators? { isShownByURL ? validators : nil }

  /// The answer for a cached source.
  package init(_ source: CachedSource, of request: CacheKey) {
    self.init(
      request: request.text, validators: source.asked.isOnce ? nil : source.validators, finalURL: source.finalURL,
      contentType: source.contentType, bytes: source.bytes, time: source.asked.time, isShownByURL: request.isShownByURL)
  }

  /// The source, whose bytes are not in the cache.
  package func source(sha256: String) -> CachedSource {
    CachedSource(
      sha256: sha256, bytes: bytes, finalURL: finalURL, validators: validators,
      asked: CachedSource.Asked(runID: "", position: -1, httpStatus: 200, time: time), contentType: contentType,
      isOfResult: true)
  }
}

extension SourceLocation {
  /// The digest to which validators of this URL belong.
  fileprivate var requestDigest: String { MessageDigest.hexDigest(of: requestText) }
}

extension PhotoRecord.Source {
  /// The text of the answer, if a result must store it in place of an earlier one: when the next request will differ,
  /// or when the cache may not know the time of the last request.
  package func news(after known: String?) -> String? {
    guard let answer else { return nil }
    if let known, isCached, !isOfResult, known.hasSuffix("\n" + answer.question) { return nil }
    return answer.text == known ? nil : answer.text
  }
}
