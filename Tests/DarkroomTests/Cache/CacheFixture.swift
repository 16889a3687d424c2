import Foundation
import Testing
import TestSupport

@testable import Model
@testable import Operations
@testable import Transfer

/// A cache's folder, and downloads to put into it.
struct CacheFixture: Sendable {
  let folder: TemporaryFolder

  /// The cache's folder.
  var path: String { folder.file("cache") }

  init() throws { folder = try TemporaryFolder() }

  /// A cache of the same folder, as a process of its own would open it.
  func opened(
    limit: Int = 1 << 30, unfinished: Set<String> = [], cleared: @escaping @Sendable () -> Void = {},
    link: CacheFolder.Link? = nil,
    report: @escaping @Sendable (any Error) -> Void = { Issue.record($0) }
  ) -> DownloadCache {
    guard let link else {
      return DownloadCache(
        folder: path, limit: limit, unfinished: unfinished, cleared: cleared, report: report)
    }
    return DownloadCache(
      folder: path, limit: limit, unfinished: unfinished, cleared: cleared, report: report, link: link)
  }

  static func key(_ name: String) throws -> CacheKey {
    CacheKey(try SourceLocation(parsing: "http://h/\(name).jpg"), .plain)
  }

  /// What a download of a request would have returned.
  /// - Parameter run: The run that the answer is for only; nil for any.
  static func source(_ name: String, bytes: Int = 10, for run: String? = nil) -> CachedSource {
    let digest = name.utf8.map { String(format: "%02x", $0) }.joined()
    return CachedSource(
      sha256: digest + String(repeating: "0", count: 64 - digest.count), bytes: bytes,
      finalURL: "http://h/\(name).jpg",
      validators: Validators(etag: "\"\(name)\"", lastModified: nil, urlDigest: "digest"),
      asked: .init(runID: run ?? "r", position: 0, httpStatus: 200, isOnce: run != nil))
  }

  /// Has a cache keep a download that is removed at once.
  /// - Parameters:
  ///   - key: Of the request. Default: that of the same name.
  ///   - run: As of `source`.
  ///   - isInMemory: Whether it is in memory, and not in a file.
  @discardableResult
  func keep(
    _ name: String, in cache: DownloadCache, bytes: Int = 10, from downloads: TemporaryFolder? = nil,
    as key: String? = nil, for run: String? = nil, isInMemory: Bool = false
  ) throws -> CachedSource {
    guard !isInMemory else { return try keepFromMemory(name, in: cache, bytes: bytes) }
    let download = (downloads ?? folder).file("download-\(name)")
    try Data(repeating: 1, count: bytes).write(to: URL(fileURLWithPath: download))
    let source = Self.source(name, bytes: bytes, for: run)
    cache.keep(source, of: try Self.key(key ?? name), from: .file(download))
    try FileManager.default.removeItem(atPath: download)
    return source
  }

  private func keepFromMemory(_ name: String, in cache: DownloadCache, bytes: Int) throws -> CachedSource {
    let memory = BodyMemory()
    #expect(memory.reserve(bytes))
    let source = Self.source(name, bytes: bytes)
    let body = BodyBytes([UInt8](repeating: 1, count: bytes), reserved: bytes, in: memory)
    cache.keep(source, of: try Self.key(name), from: .memory(body))
    return source
  }

  /// The names of the sources, and of files that come in, beneath the cache's folder.
  func files() throws -> (sources: [String], incoming: [String]) {
    let names = try FileManager.default.subpathsOfDirectory(atPath: path)
    return (
      names.filter { $0.hasPrefix($0.prefix(2) + "/") }.map { $0.replacingOccurrences(of: "/", with: "") }.sorted(),
      names.filter { $0.hasPrefix("incoming/") }
    )
  }

  func size(of sha256: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(
      atPath: "\(path)/\(sha256.prefix(2))/\(sha256.dropFirst(2))")
    return attributes[.size] as? Int
  }
}
