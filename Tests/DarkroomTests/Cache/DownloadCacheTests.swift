import Database
import Foundation
import Testing
import TestSupport

@testable import Model
@testable import Operations

@Suite(.blocking) struct DownloadCacheTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  /// What a cache keeps and commits before it is released.
  private func committedSource() throws -> CachedSource {
    let cache = fixture.opened()
    defer { cache.commit() }
    return try fixture.keep("a", in: cache)
  }

  @Test func `what was committed is known to the next start`() throws {
    let source = try committedSource()
    let next = fixture.opened()
    #expect(next.source(try CacheFixture.key("a")) == source)
    #expect(next.open(source.sha256) != nil)
  }

  @Test func `an index without content types keeps what it has`() throws {
    let source = try committedSource()
    do {
      let database = try Database(path: fixture.path + "/index.sqlite", durability: .process)
      let columns = "key, sha256, final_url, etag, last_modified, answered, run, position, status, once"
      try database.execute(
        """
        CREATE TABLE older AS SELECT \(columns) FROM sources;
        DROP TABLE sources;
        ALTER TABLE older RENAME TO sources;
        CREATE UNIQUE INDEX sources_by_key ON sources (key);
        PRAGMA user_version = 2;
        """)
    }
    let next = fixture.opened()
    #expect(next.source(try CacheFixture.key("a")) == source)
    var typed = source
    typed.contentType = "text/csv; charset=utf-8"
    next.confirm(typed, of: try CacheFixture.key("a"))
    #expect(next.source(try CacheFixture.key("a")) == typed)
  }

  @Test func `what was not committed when the process died is gone with its file`() throws {
    let committed = try committedSource()
    do {
      let second = fixture.opened()
      let lost = try fixture.keep("b", in: second)
      #expect(second.source(try CacheFixture.key("b")) == lost)
      #expect(try fixture.files().sources == [committed.sha256, lost.sha256])
    }
    let next = fixture.opened()
    #expect(next.source(try CacheFixture.key("a")) == committed)
    #expect(next.source(try CacheFixture.key("b")) == nil)
    #expect(try fixture.files().sources == [committed.sha256])
  }

  @Test func `a file that came in and was not recorded is removed by the next start`() throws {
    _ = try committedSource()
    try Data("left".utf8).write(to: URL(fileURLWithPath: fixture.path + "/incoming/1"))
    let next = fixture.opened()
    #expect(next.source(try CacheFixture.key("a")) != nil)
    #expect(try fixture.files().incoming.isEmpty)
    let kept = try fixture.keep("b", in: next)
    #expect(next.source(try CacheFixture.key("b")) == kept)
  }

  @Test func `what is beyond the limit is removed at once, the least recently used first`() throws {
    let cache = fixture.opened(limit: 25)
    for name in ["a", "b", "c"] {
      try fixture.keep(name, in: cache)
      if name == "b" { cache.confirm(CacheFixture.source("a"), of: try CacheFixture.key("a")) }
      _ = cache.source(try CacheFixture.key(name))
      #expect(try fixture.files().sources.count <= 2)
    }
    #expect(try fixture.files().sources == ["a", "c"].map { CacheFixture.source($0).sha256 })
    cache.resize(to: 10)
    #expect(cache.source(try CacheFixture.key("a")) == nil)
    #expect(try fixture.files().sources == [CacheFixture.source("c").sha256])
    try fixture.keep("large", in: cache, bytes: 11)
    #expect(cache.source(try CacheFixture.key("large")) == nil)
    #expect(cache.source(try CacheFixture.key("c")) != nil)
  }

  @Test func `everything is removed in the background, and it is told when that is done`() throws {
    let cleared = DispatchSemaphore(value: 0)
    let cache = fixture.opened(cleared: { cleared.signal() })
    cache.clear()
    cleared.wait()
    try fixture.keep("a", in: cache)
    cache.clear()
    cleared.wait()
    #expect(try fixture.files().sources.isEmpty)
    cache.clear()
    cleared.wait()
    let kept = try fixture.keep("b", in: cache)
    #expect(cache.source(try CacheFixture.key("b")) == kept)
    #expect(cache.source(try CacheFixture.key("a")) == nil)
    #expect(cache.open(kept.sha256) != nil)
  }

  @Test func `bytes that are dropped are unknown to the next request`() throws {
    let cache = fixture.opened()
    let source = try fixture.keep("a", in: cache)
    cache.drop(source.sha256)
    cache.confirm(source, of: try CacheFixture.key("a"))
    #expect(cache.source(try CacheFixture.key("a")) == nil)
    #expect(try fixture.files().sources.isEmpty)
  }

  @Test func `a source that is kept again replaces damaged bytes`() throws {
    let cache = fixture.opened()
    let source = try fixture.keep("a", in: cache)
    _ = cache.source(try CacheFixture.key("a"))
    let path = "\(fixture.path)/\(source.sha256.prefix(2))/\(source.sha256.dropFirst(2))"
    try Data("cut".utf8).write(to: URL(fileURLWithPath: path))
    try fixture.keep("a", in: cache)
    #expect(cache.source(try CacheFixture.key("a")) == source)
    #expect(try fixture.size(of: source.sha256) == 10)
    #expect(try fixture.files().incoming.isEmpty)
  }
}
