import Transfer

/// How the downloads of a job may use the cache.
struct CacheAccess: Sendable {
  /// nil when there is none.
  let cache: DownloadCache?

  /// Whether what earlier runs downloaded is ignored.
  let isRefreshing: Bool

  /// Larger sources are ignored: they would be rejected if they were downloaded.
  let maxBytes: Int

  /// The run that asks.
  let runID: String

  /// What a request returned before, and whether this run has made it; nil when there is nothing that may be used. What is
  /// no GET is made once in each run.
  func known(_ key: CacheKey, _ request: SourceRequest) -> (source: CachedSource, isOfThisRun: Bool)? {
    guard let source = cache?.source(key), source.bytes <= maxBytes else { return nil }
    let isOfThisRun = source.asked.runID == runID
    return (isRefreshing || !request.isCacheable) && !isOfThisRun ? nil : (source, isOfThisRun)
  }
}
