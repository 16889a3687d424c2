import Foundation
import TestSupport
import Testing
import Transfer

@testable import Darkroom

@Suite struct DownloadCacheTests {
  private let folder: TemporaryFolder
  private let key: CacheKey

  init() throws {
    folder = try TemporaryFolder()
    key = CacheKey(try SourceLocation(parsing: "http://h/a.jpg"), .plain)
  }

  /// A cache of the same folder, as a process of its own would open it.
  private func opened(limit: Int = 1000) -> DownloadCache {
    DownloadCache(folder: folder.file("cache"), limit: limit) { Issue.record($0) }
  }

  /// Has a cache keep ten bytes.
  private func keep(_ digit: Int, in cache: DownloadCache) throws -> CachedSource {
    let download = folder.file("download")
    try Data(repeating: UInt8(digit), count: 10).write(to: URL(fileURLWithPath: download))
    let source = CachedSource(
      sha256: String(repeating: "\(digit)", count: 64), bytes: 10, finalURL: "http://h/a.jpg", validators: nil,
      asked: .init(runID: "r", position: 0, httpStatus: 200))
    cache.keep(source, of: key, from: download)
    try FileManager.default.removeItem(atPath: download)
    return source
  }

  /// What a cache keeps and settles before it goes.
  private func settledSource() throws -> CachedSource {
    let cache = opened()
    defer { cache.settle() }
    return try keep(1, in: cache)
  }

  private func files() throws -> Int {
    try FileManager.default.subpathsOfDirectory(atPath: folder.file("cache")).count { $0.hasPrefix($0.prefix(2) + "/") }
  }

  @Test("what was settled is known to the next start")
  func settled() throws {
    let source = try settledSource()
    let next = opened()
    #expect(next.source(key)?.sha256 == source.sha256)
    #expect(next.open(source.sha256) != nil)
  }

  @Test("what was not settled when the program died is gone with its file")
  func unsettled() throws {
    _ = try settledSource()
    _ = try keep(2, in: opened())
    #expect(try files() == 2)
    let next = opened()
    #expect(next.source(key)?.sha256.first == "1")
    #expect(try files() == 1)
  }

  @Test("what is beyond the limit goes at once, settled or not")
  func limit() throws {
    let cache = opened(limit: 25)
    for digit in 1...5 {
      _ = try keep(digit, in: cache)
      #expect(try files() <= 2)
    }
    #expect(cache.clear())
    #expect(try files() == 0)
    #expect(!cache.clear())
  }
}
