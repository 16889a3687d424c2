import Model
import System
import Transfer

/// How the downloads of a job may use what was downloaded before.
struct CacheAccess: Sendable {
  /// nil when there is none.
  let cache: DownloadCache?

  /// Whether what earlier runs downloaded is ignored.
  let isRefreshing: Bool

  /// Larger sources are ignored: they would be rejected if they were downloaded.
  let maxBytes: Int

  let runID: String

  /// When that was accepted, in milliseconds since 1970, UTC.
  let since: Int

  /// What a request returned before, and whether it was made within this run: by it, by one that it has replaced, or by another
  /// live run since the first of these was accepted; nil when there is nothing that may be used. What is no GET is made once in each run, and has a key for
  /// each.
  /// - Parameter delivered: The source whose result is there, if the cache does not have it.
  func known(
    _ key: CacheKey, _ request: SourceRequest, delivered: () -> CachedSource? = { nil }
  ) -> (source: CachedSource, isOfThisRun: Bool)? {
    guard let source = cache?.source(key) ?? delivered(), source.bytes <= maxBytes else {
      return nil
    }
    let isOfThisRun =
      source.asked.runID == runID || (since...max(since, Clock.wallMilliseconds)).contains(source.asked.time)
    return (isRefreshing || !request.isCacheable) && !isOfThisRun ? nil : (source, isOfThisRun)
  }
}
