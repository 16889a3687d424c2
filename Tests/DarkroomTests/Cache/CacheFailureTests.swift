import Foundation
import Synchronization
import Testing
import TestSupport

@testable import Model
@testable import Operations

@Suite struct CacheFailureTests {
  private let fixture: CacheFixture

  init() throws { fixture = try CacheFixture() }

  private final class Reports: Sendable {
    private let reports = Mutex(0)
    var count: Int { reports.withLock { $0 } }
    func add() { reports.withLock { $0 += 1 } }
  }

  /// Fills what is left of a disk with one file.
  private func fill(_ path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    let page = [UInt8](repeating: 7, count: 4096)
    while write(descriptor, page, page.count) > 0 {}
  }

  @Test(.enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")"))
  func `a commit for which there is no room loses its sources with their files, and the cache goes on`() throws {
    try fixture.folder.makeFolder("cache")
    let disk = try SmallDisk(over: fixture.path, in: fixture.folder, kilobytes: 1024)
    try withExtendedLifetime(disk) {
      let limit = 100_000
      let filler = fixture.path + "/filler"
      do {
        let cache = fixture.opened(limit: limit)
        let committed = try fixture.keep("a", in: cache, bytes: 30_000)
        cache.commit()
        for name in ["b", "c"] { try fixture.keep(name, in: cache, bytes: 30_000) }
        #expect(cache.source(try CacheFixture.key("c")) != nil)
        try fill(filler)
        cache.commit()
        #expect(try fixture.files().sources == [committed.sha256])
        #expect(cache.source(try CacheFixture.key("a")) == committed)
        #expect(cache.source(try CacheFixture.key("b")) == nil)
        try FileManager.default.removeItem(atPath: filler)
        for name in ["d", "e", "f", "g"] {
          let kept = try fixture.keep(name, in: cache, bytes: 30_000)
          #expect(cache.source(try CacheFixture.key(name)) == kept)
          #expect(try fixture.files().sources.count <= 3)
        }
        cache.commit()
      }
      let next = fixture.opened(limit: limit)
      for name in ["e", "f", "g"] { #expect(next.source(try CacheFixture.key(name)) != nil) }
      let files = try fixture.files()
      #expect(files.sources.count == 3 && files.incoming.isEmpty)
    }
  }

  @Test(.enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")"))
  func `a source in memory for which there is no room is not kept, and one that is there already stays`() throws {
    try fixture.folder.makeFolder("cache")
    let disk = try SmallDisk(over: fixture.path, in: fixture.folder, kilobytes: 1024)
    try withExtendedLifetime(disk) {
      let cache = fixture.opened()
      let kept = try fixture.keep("a", in: cache, bytes: 60_000, isInMemory: true)
      cache.commit()
      // The first change after a commit is written at once.
      let small = try fixture.keep("b", in: cache, isInMemory: true)
      #expect(cache.source(try CacheFixture.key("b")) == small)
      let filler = fixture.path + "/filler"
      try fill(filler)
      // Room for a part of a source.
      let size = try #require(try FileManager.default.attributesOfItem(atPath: filler)[.size] as? Int)
      #expect(truncate(filler, size - 16_384) == 0)
      for name in ["a", "c"] { try fixture.keep(name, in: cache, bytes: 60_000, isInMemory: true) }
      #expect(cache.source(try CacheFixture.key("c")) == nil)
      #expect(cache.source(try CacheFixture.key("a")) == kept)
      #expect(try cache.open(kept.sha256)?.readAll() == Data(repeating: 1, count: 60_000))
      let files = try fixture.files()
      #expect(files.sources == [kept, small].map(\.sha256) && files.incoming.isEmpty)
      try FileManager.default.removeItem(atPath: filler)
      let later = try fixture.keep("c", in: cache, bytes: 60_000, isInMemory: true)
      #expect(cache.source(try CacheFixture.key("c")) == later)
    }
  }

  @Test(.enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")"))
  func `a disk that is full at the start is emptied, and does not turn the cache off`() throws {
    try fixture.folder.makeFolder("cache")
    let disk = try SmallDisk(over: fixture.path, in: fixture.folder, kilobytes: 512)
    try withExtendedLifetime(disk) {
      let filler = fixture.path + "/filler"
      do {
        let cache = fixture.opened()
        try fixture.keep("a", in: cache, bytes: 100_000)
        cache.commit()
      }
      for suffix in ["", "-wal"] { unlink(fixture.path + "/index.sqlite" + suffix) }
      try fill(filler)
      let cache = fixture.opened()
      #expect(cache.source(try CacheFixture.key("a")) == nil)
      try fixture.keep("b", in: cache, bytes: 100_000)
      cache.clear()
      cache.commit()
      #expect(try fixture.files().sources.isEmpty)
      try FileManager.default.removeItem(atPath: filler)
      let kept = try fixture.keep("c", in: cache, bytes: 100_000)
      #expect(cache.source(try CacheFixture.key("c")) == kept)
    }
  }

  @Test(.enabled(if: SmallDisk.obstacle == nil, "\(SmallDisk.obstacle ?? "")"))
  func `an index of an earlier version is begun anew if there is no space to convert it`() throws {
    try fixture.folder.makeFolder("cache")
    let disk = try SmallDisk(over: fixture.path, in: fixture.folder, kilobytes: 1024)
    try withExtendedLifetime(disk) {
      let filler = fixture.path + "/filler"
      do {
        let cache = fixture.opened()
        try fixture.keep("a", in: cache)
        cache.commit()
      }
      try DownloadCacheTests.makeEarlier(fixture.path + "/index.sqlite", version: 3)
      try fill(filler)
      let cache = fixture.opened()
      // A process that another test forks may hold a removed file open until now: then there is space after all.
      let converted = cache.source(try CacheFixture.key("a"))
      try FileManager.default.removeItem(atPath: filler)
      let kept = try fixture.keep("b", in: cache)
      #expect(cache.source(try CacheFixture.key("b")) == kept)
      #expect(try fixture.files().sources == [converted, kept].compactMap(\.?.sha256))
    }
  }

  @Test func `a damaged cache is empty until the next start begins it anew, and is reported once`() throws {
    let reports = Reports()
    do {
      let cache = fixture.opened(report: { _ in reports.add() })
      // A folder in the place of a file's folder: neither of them can be removed as a file.
      try fixture.keep("a", in: cache)
      let source = CacheFixture.source("a")
      _ = cache.source(try CacheFixture.key("a"))
      let path = "\(fixture.path)/\(source.sha256.prefix(2))/\(source.sha256.dropFirst(2))"
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      cache.drop(source.sha256)
      #expect(cache.source(try CacheFixture.key("a")) == nil)
      try fixture.keep("b", in: cache)
      #expect(cache.source(try CacheFixture.key("b")) == nil)
      cache.commit()
      #expect(reports.count == 1)
      try FileManager.default.removeItem(atPath: path)
    }
    let next = fixture.opened()
    let kept = try fixture.keep("b", in: next)
    #expect(next.source(try CacheFixture.key("b")) == kept)
    #expect(try fixture.files().sources == [kept.sha256])
  }
}
