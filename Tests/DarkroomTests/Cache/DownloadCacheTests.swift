import Database
import Foundation
import System
import Testing
import TestSupport

@testable import Model
@testable import Operations
@testable import Transfer

@Suite(.blocking) struct DownloadCacheTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  /// What a cache keeps and commits before it is released.
  private func committedSource(isInMemory: Bool = false) throws -> CachedSource {
    let cache = fixture.opened()
    defer { cache.commit() }
    return try fixture.keep("a", in: cache, isInMemory: isInMemory)
  }

  @Test(arguments: [false, true]) func `what was committed is known to the next start`(isInMemory: Bool) throws {
    let source = try committedSource(isInMemory: isInMemory)
    let next = fixture.opened()
    #expect(next.source(try CacheFixture.key("a")) == source)
    #expect(try next.open(source.sha256)?.readAll() == Data(repeating: 1, count: 10))
    #expect(try fixture.files().incoming.isEmpty)
  }

  /// The tables of earlier versions.
  private static let earlier = """
    CREATE TABLE old_objects (sha256 TEXT PRIMARY KEY, bytes INTEGER NOT NULL, used INTEGER NOT NULL, exempt INTEGER NOT NULL)
    STRICT, WITHOUT ROWID;
    CREATE TABLE old_sources (
      key TEXT PRIMARY KEY, sha256 TEXT NOT NULL REFERENCES old_objects ON DELETE CASCADE, final_url TEXT NOT NULL, etag TEXT,
      last_modified TEXT, answered TEXT, run TEXT NOT NULL, position INTEGER NOT NULL, status INTEGER NOT NULL, once TEXT
    ) STRICT, WITHOUT ROWID;
    INSERT INTO old_objects SELECT sha256, bytes, used, exempt FROM objects;
    INSERT INTO old_sources
    SELECT key, sha256, final_url, etag, last_modified, answered, run, position, status, once
    FROM sources JOIN objects ON id = object;
    DROP TABLE sources;
    DROP TABLE objects;
    ALTER TABLE old_objects RENAME TO objects;
    ALTER TABLE old_sources RENAME TO sources;
    CREATE INDEX objects_by_use ON objects (used) WHERE exempt = 0;
    CREATE INDEX sources_by_object ON sources (sha256);
    CREATE INDEX sources_for_runs ON sources (once) WHERE once IS NOT NULL;
    """

  /// Converts an index to an earlier version.
  static func makeEarlier(_ path: String, version: Int) throws {
    let database = try Database(path: path, durability: .process)
    try database.execute(earlier)
    if version == 3 { try database.execute("ALTER TABLE sources ADD COLUMN content_type TEXT") }
    try database.execute("PRAGMA user_version = \(version)")
  }

  @Test(arguments: [2, 3]) func `an index of an earlier version keeps what it has`(version: Int) throws {
    let source = try committedSource()
    try Self.makeEarlier(fixture.path + "/index.sqlite", version: version)
    let next = fixture.opened()
    #expect(next.source(try CacheFixture.key("a")) == source)
    #expect(next.open(source.sha256) != nil)
    var typed = source
    typed.contentType = "text/csv; charset=utf-8"
    next.confirm(typed, of: try CacheFixture.key("a"))
    #expect(next.source(try CacheFixture.key("a")) == typed)
    next.drop(source.sha256)
    #expect(next.source(try CacheFixture.key("a")) == nil)
  }

  @Test(arguments: [false, true])
  func `what was not committed when the process died is gone with its file`(isInMemory: Bool) throws {
    let committed = try committedSource()
    do {
      let second = fixture.opened()
      let lost = try fixture.keep("b", in: second, isInMemory: isInMemory)
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

  @Test func `a confirmation does not replace what was downloaded meanwhile`() throws {
    let cache = fixture.opened()
    let old = try fixture.keep("a", in: cache)
    let new = try fixture.keep("b", in: cache, as: "a")
    cache.confirm(old, of: try CacheFixture.key("a"))
    #expect(cache.source(try CacheFixture.key("a")) == new)
  }

  @Test(arguments: [false, true]) func `a source that is kept again replaces damaged bytes`(isInMemory: Bool) throws {
    let cache = fixture.opened()
    let source = try fixture.keep("a", in: cache, isInMemory: isInMemory)
    _ = cache.source(try CacheFixture.key("a"))
    let path = "\(fixture.path)/\(source.sha256.prefix(2))/\(source.sha256.dropFirst(2))"
    try Data("cut".utf8).write(to: URL(fileURLWithPath: path))
    try fixture.keep("a", in: cache, isInMemory: isInMemory)
    #expect(cache.source(try CacheFixture.key("a")) == source)
    #expect(try fixture.size(of: source.sha256) == 10)
    #expect(try fixture.files().incoming.isEmpty)
  }

  @Test func `a confirmed source keeps the validators of its bytes, and gets some if it has none`() {
    func outcome(_ etag: String?) -> TransferOutcome {
      TransferOutcome(
        httpStatus: 304, validators: etag.map { Validators(etag: $0, lastModified: nil, urlDigest: "digest") },
        mayBeStored: true, finalURL: "http://h/a.jpg", bytes: 0, received: 0, sha256: "", contentType: nil,
        requests: RequestCount(), seconds: 0, answer: nil)
    }
    let known = CacheFixture.source("a")
    // A server that compares dates only, and has another picture since.
    #expect(known.confirmed(by: outcome("\"b\""), to: known.asked).validators == known.validators)
    #expect(known.confirmed(by: outcome(nil), to: known.asked).validators == known.validators)
    let without = CachedSource(
      sha256: known.sha256, bytes: 1, finalURL: known.finalURL, validators: nil, asked: known.asked)
    #expect(without.confirmed(by: outcome("\"b\""), to: known.asked).validators?.etag == "\"b\"")
  }
}
