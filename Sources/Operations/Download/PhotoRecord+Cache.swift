import Model
import System
import Transfer

/// Sources of an entry, as the cache has them.
extension PhotoRecord {
  /// The form in which the cache stores a downloaded source. Validators are dropped if the answer must not be stored.
  func cachedSource(of outcome: TransferOutcome) -> CachedSource {
    CachedSource(
      sha256: outcome.sha256, bytes: outcome.bytes, finalURL: outcome.finalURL,
      validators: outcome.mayBeStored ? outcome.validators : nil, asked: asked(outcome),
      contentType: outcome.contentType.flatMap { $0.hasPrefix("image/") ? nil : $0 })
  }

  /// Whether it is an HTML page of another host, such as that of a captive portal.
  func isForeignPage(_ outcome: TransferOutcome) -> Bool {
    ["text/html", "application/xhtml+xml"].contains { outcome.contentType?.lowercased().hasPrefix($0) == true }
      && SourceLocation.hostName(of: outcome.finalURL) != SourceLocation.hostName(of: url)
  }

  func asked(_ outcome: TransferOutcome) -> CachedSource.Asked {
    CachedSource.Asked(
      runID: run.staging.runID, position: entry.position, httpStatus: outcome.httpStatus ?? 0,
      time: Clock.wallMilliseconds, isOnce: !entry.request.isCacheable)
  }

  /// Uses a source from the cache, or one whose result exists. The filtration checks whether its bytes still exist.
  /// - Parameter time: How long it took to ask for it. Default: none, since it was not asked for.
  func use(_ known: CachedSource, _ key: CacheKey, taking time: Duration = .zero) {
    let isOwn = known.asked.position == entry.position && known.asked.runID == run.runID
    downloaded(
      Source(
        finalURL: known.finalURL, httpStatus: isOwn ? known.asked.httpStatus : nil, bytes: known.bytes,
        sha256: known.sha256, isCached: true, isCoalesced: !isOwn && !known.isOfResult,
        contentType: known.contentType, isOfResult: known.isOfResult, answer: SourceAnswer(known, of: key)),
      taking: time)
  }
}

extension PhotoRecord.Source {
  init(_ outcome: TransferOutcome) {
    self.init(
      finalURL: outcome.finalURL, httpStatus: outcome.httpStatus, bytes: outcome.bytes, sha256: outcome.sha256,
      contentType: outcome.contentType)
  }
}
