import System
import Transfer

/// The answer to a request for a source, as far as it matters for whether the source has changed since.
package struct SourceAnswer: Sendable, Equatable {
  /// The request: a `CacheKey`, as text.
  package let request: String

  /// By what a server is asked whether the source has changed; nil when it sent nothing, and for what is asked for once in each
  /// run: then the answer says nothing to later runs but those that replace its own.
  let validators: Validators?

  /// The URL that answered, redirects followed, as reports show it.
  let finalURL: String

  /// What the server said that the source is, with its parameters; nil for pictures, and when it said nothing.
  let contentType: String?

  let bytes: Int

  /// When it was asked, in milliseconds since 1970, UTC.
  let time: Int

  /// The form that is kept in the ledger: a line for each value. There are no line breaks in any.
  var text: String {
    """
    \(time)
    \(finalURL)
    \(contentType ?? "")
    \(question)
    """
  }

  /// What is asked about the source, and by what: the end of `text`.
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
  /// - Returns: nil for what another version wrote and this one does not understand.
  package init?(text: String) {
    let lines = text.fields("\n", omittingEmpty: false)
    guard lines.count == 8, let time = Int(lines[0]), let bytes = Int(lines[4]) else { return nil }
    func value(_ line: Int) -> String? { lines[line].isEmpty ? nil : lines[line] }
    let validators = value(5).map { Validators(etag: value(6), lastModified: value(7), urlDigest: $0) }
    self.init(
      request: lines[3], validators: validators, finalURL: lines[1], contentType: value(2), bytes: bytes, time: time)
  }

  /// What is known about a source.
  package init(_ source: CachedSource, of request: CacheKey) {
    self.init(
      request: request.text, validators: source.asked.isOnce ? nil : source.validators, finalURL: source.finalURL,
      contentType: source.contentType, bytes: source.bytes, time: source.asked.time)
  }

  /// The source, whose bytes nobody has.
  package func source(sha256: String) -> CachedSource {
    CachedSource(
      sha256: sha256, bytes: bytes, finalURL: finalURL, validators: validators,
      asked: CachedSource.Asked(runID: "", position: -1, httpStatus: 200, time: time), contentType: contentType,
      isOfResult: true)
  }
}

extension PhotoRecord.Source {
  /// Its answer, as text, if a result of it is to keep that in place of an earlier one: when something else is to be asked the
  /// next time, or when the cache may not know when it was asked for last.
  package func news(after known: String?) -> String? {
    guard let answer else { return nil }
    if let known, isCached, !isOfResult, known.hasSuffix("\n" + answer.question) { return nil }
    return answer.text == known ? nil : answer.text
  }
}
