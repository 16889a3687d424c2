import Foundation
import Testing
import TestSupport

@testable import Model
@testable import Operations

/// Answers that are for one run only, as those to POST.
@Suite(.blocking) struct OnceTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  /// Has a cache keep a download, and waits until it has: what comes in takes room that another is refused.
  private func keep(
    _ name: String, in cache: DownloadCache, bytes: Int = 10, as key: String? = nil, for run: String? = nil
  ) throws {
    try fixture.keep(name, in: cache, bytes: bytes, as: key, for: run)
    cache.commit()
  }

  private func known(_ cache: DownloadCache, _ names: String...) throws -> [String] {
    try names.filter { try cache.source(CacheFixture.key($0)) != nil }
  }

  @Test func `they take no room and evict nothing, nor are they evicted, and go with their run`() throws {
    let cache = fixture.opened(limit: 25)
    try keep("a", in: cache)
    for name in ["p", "q", "r"] { try keep(name, in: cache, bytes: 30, for: "run-1") }
    try keep("s", in: cache, for: "run-2")
    for name in ["b", "c"] { try keep(name, in: cache) }
    #expect(try known(cache, "a", "b", "c", "p", "q", "r", "s") == ["b", "c", "p", "q", "r", "s"])
    cache.end(run: "run-1")
    #expect(try known(cache, "b", "c", "p", "q", "r", "s") == ["b", "c", "s"])
    cache.end(run: "run-2")
    #expect(try known(cache, "b", "c", "s") == ["b", "c"])
    #expect(try fixture.files().sources == ["b", "c"].map { CacheFixture.source($0).sha256 })
  }

  @Test func `what other requests returned, too, takes room again when the run has ended`() throws {
    let cache = fixture.opened(limit: 25)
    try keep("a", in: cache)
    try keep("a", in: cache, as: "p", for: "run")
    for name in ["b", "c"] { try keep(name, in: cache) }
    #expect(try known(cache, "a", "b", "c", "p") == ["a", "b", "c", "p"])
    cache.end(run: "run")
    #expect(try known(cache, "a", "b", "c", "p") == ["b", "c"])
  }

  @Test func `what was for one run only takes room when the same request returns something else`() throws {
    let cache = fixture.opened(limit: 25)
    try keep("p", in: cache, for: "run")
    try keep("q", in: cache, as: "p", for: "run")
    for name in ["a", "b"] { try keep(name, in: cache) }
    _ = cache.source(try CacheFixture.key("a"))
    #expect(try fixture.files().sources == ["a", "b", "q"].map { CacheFixture.source($0).sha256 })
    cache.end(run: "run")
    #expect(try known(cache, "a", "b", "p") == ["a", "b"])
  }

  @Test func `for want of space everything else is removed, also by the next process`() throws {
    let cleared = DispatchSemaphore(value: 0)
    do {
      let cache = fixture.opened(cleared: { cleared.signal() })
      try fixture.keep("a", in: cache)
      for name in ["p", "q"] { try fixture.keep(name, in: cache, for: name) }
      cache.clear()
      cleared.wait()
      #expect(try known(cache, "a", "p", "q") == ["p", "q"])
      #expect(try fixture.files().sources.count == 2)
      try fixture.keep("b", in: cache)
      cache.commit()
    }
    let next = fixture.opened(unfinished: ["p"], cleared: { cleared.signal() })
    next.clear()
    cleared.wait()
    #expect(try known(next, "b", "p", "q") == ["p"])
    next.end(run: "p")
    next.clear()
    cleared.wait()
    #expect(try fixture.files().sources.isEmpty)
  }

  @Test func `a cache that is turned off has none`() throws {
    let cache = fixture.opened(limit: 0)
    try fixture.keep("p", in: cache, for: "run")
    #expect(try known(cache, "p").isEmpty)
  }
}
