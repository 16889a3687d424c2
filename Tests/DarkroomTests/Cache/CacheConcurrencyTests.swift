import Foundation
import Synchronization
import System
import Testing
import TestSupport

@testable import Model
@testable import Operations

@Suite(.blocking) struct CacheConcurrencyTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  /// Runs `body` on a thread of its own.
  /// - Returns: What is signalled when it has ended.
  private func run(_ body: @escaping @Sendable () -> Void) -> DispatchSemaphore {
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      body()
      ended.signal()
    }
    return ended
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/shm")))
  func `while a large file is copied from another file system, other requests are answered`() throws {
    let (began, proceed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let other = try TemporaryFolder(in: "/dev/shm")
    let cache = fixture.opened(link: { path, target in
      if path.hasPrefix(other.path) {
        began.signal()
        proceed.wait()
      }
      return Folder.link(path, orCopyTo: target)
    })
    let fixture = fixture
    let copied = run {
      _ = #expect(throws: Never.self) { try fixture.keep("large", in: cache, bytes: 8 << 20, from: other) }
    }
    began.wait()
    let answered = run {
      _ = #expect(throws: Never.self) {
        let kept = try fixture.keep("a", in: cache)
        #expect(cache.source(try CacheFixture.key("a")) == kept)
        cache.confirm(kept, of: try CacheFixture.key("a"))
        try fixture.keep("b", in: cache)
        cache.drop(CacheFixture.source("b").sha256)
        cache.resize(to: 1 << 29)
        cache.commit()
        #expect(cache.source(try CacheFixture.key("b")) == nil)
        #expect(cache.source(try CacheFixture.key("large")) == nil)
      }
    }
    // The time limit is for a failure only.
    #expect(answered.wait(timeout: .now() + 60) == .success)
    proceed.signal()
    copied.wait()
    #expect(cache.source(try CacheFixture.key("large")) == CacheFixture.source("large", bytes: 8 << 20))
    #expect(try fixture.size(of: CacheFixture.source("large").sha256) == 8 << 20)
    #expect(try fixture.files().incoming.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a file that comes in while the cache is emptied or made smaller is neither left over nor handed out`(
    isCleared: Bool
  ) throws {
    let (began, proceed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let cache = fixture.opened(link: { path, target in
      let isDone = Folder.link(path, orCopyTo: target)
      began.signal()
      proceed.wait()
      return isDone
    })
    let fixture = fixture
    let kept = run { _ = #expect(throws: Never.self) { try fixture.keep("a", in: cache) } }
    began.wait()
    if isCleared { cache.clear() } else { cache.resize(to: 9) }
    cache.commit()
    proceed.signal()
    kept.wait()
    #expect(cache.source(try CacheFixture.key("a")) == nil)
    let files = try fixture.files()
    #expect(files.sources.isEmpty && files.incoming.isEmpty)
  }

  @Test func `requests of many threads leave the folder and the index as one`() throws {
    let limit = 200
    do {
      let cache = fixture.opened(limit: limit)
      DispatchQueue.concurrentPerform(iterations: 8) { thread in
        _ = #expect(throws: Never.self) {
          for step in 0..<60 {
            let name = "\(thread)-\((step * 7 + thread) % 12)"
            let kept = try fixture.keep(name, in: cache)
            if step % 5 == 0 { cache.drop(kept.sha256) }
            if step % 7 == 0 { cache.confirm(kept, of: try CacheFixture.key(name)) }
            if step % 11 == 0 { cache.commit() }
            if step % 29 == 0, thread == 0 { cache.clear() }
            if let source = cache.source(try CacheFixture.key(name)) { #expect(source == kept) }
          }
        }
      }
      cache.commit()
    }
    let files = try fixture.files()
    #expect(files.sources.count * 10 <= limit && files.incoming.isEmpty)
    let next = fixture.opened()
    var known: Set<String> = []
    for thread in 0..<8 {
      for number in 0..<12 {
        if let source = next.source(try CacheFixture.key("\(thread)-\(number)")) { known.insert(source.sha256) }
      }
    }
    #expect(known.sorted() == files.sources)
  }
}
