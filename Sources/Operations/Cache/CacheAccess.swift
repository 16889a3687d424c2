import Model
import System
import Transfer

/// How the downloads of a job use earlier downloads.
struct CacheAccess: Sendable {
  /// nil when there is no cache.
  let cache: DownloadCache?

  /// Whether sources that earlier runs downloaded are ignored.
  let isRefreshing: Bool

  /// The greatest size of a source. Larger ones are ignored, since they would be rejected when downloaded.
  let maxBytes: Int

  let runID: String

  /// When the run was accepted, in milliseconds since 1970, UTC.
  let since: Int

  /// The source that an earlier request returned, and whether that request belongs to this run: it was sent by this
  /// run, by one that this run replaced, or by another live run since the first of these was accepted. nil when no
  /// source can be used. A request that is not a GET is sent once per run, and its key contains the run.
  /// - Parameter delivered: The source of an existing result, if the cache does not have the source.
  func known(
    _ key: CacheKey, _ request: SourceRequest, delivered: () -> CachedSource? = { nil }
  ) -> (source: CachedSource, isOfThisRun: Bool)? {
    guard let source = cache?.source(key) ?? delivered(), source.bytes <= maxBytes else { return nil }
    let isOfThisRun =
      source.asked.runID == runID || (since...max(since, Clock.wallMilliseconds)).contains(source.asked.time)
    // An answer that only confirms what was there before is none for a request that ignores it.
    let isUsable = isRefreshing ? isOfThisRun && source.asked.httpStatus != 304 : isOfThisRun || request.isCacheable
    return isUsable ? (source, isOfThisRun) : nil
  }
}
