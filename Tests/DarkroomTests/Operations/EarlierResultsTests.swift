import Foundation
import Imaging
import JobIndex
import System
import Testing
import TestSupport
import Transfer

@testable import Ledger
@testable import Model
@testable import Operations

@Suite struct EarlierResultsTests {
  private let outbox: Outbox
  private let key: ResultKey
  private let entry: Entry

  init() throws {
    outbox = try Outbox()
    entry = try .sample(recipe: "sepia(1)")
    key = ResultKey(of: "ab", for: entry, output: OutputOptions())
  }

  private var target: String { "images/\(entry.name).jpg" }

  private var identity: String { get throws { try FileStatus(of: outbox.folder.file(target)).identity.text } }

  /// Records that a file was delivered.
  private func remember(_ text: String, origin: String?, identity: String?) throws {
    var delivery = Delivery(
      staged: "", target: target, bytes: text.utf8.count, sha256: Outbox.sha256(text), origin: origin)
    delivery.identity = identity
    try outbox.remember(delivery)
  }

  private var provenance: Provenance { Provenance(key: key, source: .sample, output: .sample) }

  private func reused(from answer: SourceAnswer? = nil, isOfResult: Bool = false) throws -> DeliveredResult? {
    var source = PhotoRecord.Source(finalURL: "http://h/a", httpStatus: 304, bytes: 9, sha256: "ab")
    (source.answer, source.isCached, source.isOfResult) = (answer, true, isOfResult)
    let outputs = try [outbox.ledger.output(job: "job", target: target)].compactMap { $0 }
    return try EarlierResults(folder: outbox.folder, outputs: outputs).result(of: entry, as: key, from: source)
  }

  private static func answer(etag: String = "e", time: Int = 1) -> SourceAnswer {
    SourceAnswer(
      request: "digest", validators: Validators(etag: etag, lastModified: nil, urlDigest: "d"), finalURL: "http://h/a",
      contentType: nil, bytes: 9, time: time)
  }

  @Test(arguments: [nil, answer(etag: "old")])
  func `a result learns by which answer its source came, if that is news`(known: SourceAnswer?) throws {
    try outbox.write("bytes", to: target)
    var provenance = provenance
    provenance.answer = known?.text
    try remember("bytes", origin: provenance.text, identity: identity)
    let origin = try #require(try reused(from: Self.answer())?.newOrigin)
    #expect(Provenance(text: origin)?.answer.flatMap(SourceAnswer.init(text:)) == Self.answer())
    try remember("bytes", origin: origin, identity: identity)
    #expect(try reused(from: Self.answer(time: 2))?.newOrigin == nil, "the cache knows when")
    #expect(try reused(from: Self.answer(time: 2), isOfResult: true)?.newOrigin != nil, "nobody else knows when")
    #expect(try reused()?.newOrigin == nil, "what cannot be asked for by validators says nothing")
  }

  @Test func `an answer without validators is kept with the result, for runs that replace its own`() throws {
    let answer = SourceAnswer(
      request: "digest", validators: nil, finalURL: "http://h/a", contentType: nil, bytes: 9, time: 7)
    var provenance = provenance
    provenance.answer = answer.text
    #expect(Provenance(text: provenance.text)?.answer.flatMap(SourceAnswer.init(text:)) == answer)
    let access = CacheAccess(cache: nil, isRefreshing: false, maxBytes: 10, runID: "r", since: 7)
    let key = CacheKey(try SourceLocation(parsing: "http://h/a"))
    #expect(access.known(key, .plain) { answer.source(sha256: "ab") }?.isOfThisRun == true)
    let later = CacheAccess(cache: nil, isRefreshing: false, maxBytes: 10, runID: "r", since: 8)
    #expect(later.known(key, .plain) { answer.source(sha256: "ab") }?.isOfThisRun == false)
  }

  @Test func `a file with the identity that it was delivered with is not read`() throws {
    try outbox.write("other", to: target)
    try remember("bytes", origin: provenance.text, identity: identity)
    #expect(try reused()?.newIdentity == nil)
    #expect(try reused()?.sha256 == Outbox.sha256("bytes"))
  }

  @Test(arguments: [nil, "of another"])
  func `with another identity the bytes tell, and nothing is written at once`(known: String?) throws {
    try outbox.write("bytes", to: target)
    try remember("bytes", origin: provenance.text, identity: known)
    #expect(try reused()?.newIdentity == identity)
    #expect(try outbox.ledger.output(job: "job", target: target)?.identity == known)
    try outbox.write("bites", to: target)
    #expect(try reused() == nil)
  }

  @Test(arguments: [nil, "", "{}", #"{"product":"ab"}"#, "[", "null"])
  func `what an earlier version recorded, or a later one, is made again`(origin: String?) throws {
    try outbox.write("bytes", to: target)
    try remember("bytes", origin: origin, identity: identity)
    #expect(try reused() == nil)
  }

  @Test func `what would be made in another way is made again`() throws {
    try outbox.write("bytes", to: target)
    for recipe in ["sepia(0.9)", "none"] {
      let other = ResultKey(of: "ab", for: try .sample(recipe: recipe), output: OutputOptions())
      try remember("bytes", origin: Provenance(key: other, source: .sample, output: .sample).text, identity: identity)
      #expect(try reused() == nil)
    }
  }

  @Test func `an entry may have been delivered in any format, also one that names another now`() throws {
    let stem = "images/\(entry.name)."
    #expect(EarlierResults.stems(of: entry) == [stem])
    #expect(EarlierResults.stems(of: entry, withOriginals: true) == [stem, "originals/\(entry.name)."])
    let index = try JobIndex(creating: .memory)
    try index.prepareOutputs()
    let targets = ["images/a/b.avif", "images/a/b.jpg"]
    let others = [
      "images/a/b", "images/a/b-.jpg", "images/a/b./c.jpg", "images/a/b.c.jpg", "images/a/b/c.jpg", "images/a/bc.jpg",
      "images/a/B.jpg", "originals/a/b.jpg",
    ]
    for target in targets + others {
      try index.insert(LedgerOutput(Delivery(staged: "", target: target, bytes: 1, sha256: "")))
    }
    #expect(try index.outputs(at: "images/a/b.").map(\.target) == targets)
  }

  @Test func `a link, a folder and nothing are no results`() throws {
    try remember("bytes", origin: provenance.text, identity: "any")
    #expect(try reused() == nil)
    try FileManager.default.createDirectory(atPath: outbox.folder.file(target), withIntermediateDirectories: false)
    #expect(try reused() == nil)
    try FileManager.default.removeItem(atPath: outbox.folder.file(target))
    try outbox.write("bytes", to: "elsewhere")
    try FileManager.default.createSymbolicLink(
      atPath: outbox.folder.file(target), withDestinationPath: outbox.folder.file("elsewhere"))
    #expect(try reused() == nil)
  }

  @Test(arguments: [false, true])
  func `what lies behind a symbolic link is no result, also when it is the file that was delivered`(
    isHeld: Bool
  ) throws {
    try outbox.write("bytes", to: target)
    try remember("bytes", origin: provenance.text, identity: identity)
    let outputs = try [outbox.ledger.output(job: "job", target: target)].compactMap { $0 }
    var results = EarlierResults(folder: outbox.folder, outputs: outputs)
    results.folders = isHeld ? ResultFolders(period: 0) : nil
    #expect(try results.result(of: entry, as: key) != nil)
    for name in ["images", ""] {
      let path = name.isEmpty ? outbox.folder.path : outbox.folder.file(name)
      try Folder.rename(path, to: outbox.root.file("moved"))
      try outbox.root.link(name.isEmpty ? "out/job" : "out/job/" + name, to: outbox.root.file("moved"))
      #expect(try results.result(of: entry, as: key) == nil, "\(path)")
      try FileManager.default.removeItem(atPath: path)
      try Folder.rename(outbox.root.file("moved"), to: path)
      #expect(try results.result(of: entry, as: key) != nil)
    }
  }

  @Test func `an original that is not what it was is not copied`() throws {
    for (text, isCopied) in [("bytes", true), ("bites", false), ("byte", false), ("bytes more", false)] {
      let path = try outbox.root.write(text, as: "original")
      let original = ResultAccess.Original(
        file: try OpenFile(reading: path), picture: .sample, bytes: 5, sha256: Outbox.sha256("bytes"))
      #expect(try original.isCopied(to: outbox.staging.create("copy")) == isCopied)
    }
    mkfifo(outbox.root.file("pipe"), 0o600)
    let pipe = ResultAccess.Original(
      file: try OpenFile(reading: outbox.root.file("pipe")), picture: .sample, bytes: 0, sha256: Outbox.sha256(""))
    #expect(try !pipe.isCopied(to: outbox.staging.create("copy")))
  }
}
