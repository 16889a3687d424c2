import Foundation
import Imaging
import System
import TestSupport
import Testing
import Transfer

@testable import Ledger
@testable import Model
@testable import Operations

@Suite struct UnchangedFilesTests {
  private let sources: TemporaryFolder
  private let chains: Chains
  private let entry: Entry

  init() throws {
    sources = try TemporaryFolder()
    chains = try Chains(fileRoot: sources.path)
    entry = try .sample(url: "a.png", recipe: "sepia(1)")
    try FileManager.default.copyItem(
      atPath: packageRoot + "/Samples/" + Chains.source, toPath: sources.file("a.png"))
  }

  /// What an earlier run delivered for the entry, as the ledger has it.
  private func delivered(recipe: String = "sepia(1)") throws -> LedgerOutput {
    try chains.folder.makeFolder("job")
    try chains.folder.makeFolder("job/images")
    let target = "images/\(entry.name).png"
    try chains.folder.write("result", as: "job/" + target)
    let digest = MessageDigest()
    try Data(contentsOf: URL(fileURLWithPath: sources.file("a.png"))).withUnsafeBytes { digest.update($0) }
    let key = ResultKey(of: digest.hexDigest(), for: try .sample(recipe: recipe), output: OutputOptions())
    let picture = ImageInfo(format: .png, width: 2, height: 3)
    return LedgerOutput(
      target: target, bytes: 6, sha256: Outbox.sha256("result"),
      origin: Provenance(key: key, source: picture, output: picture).text,
      identity: try FileStatus(of: chains.folder.file("job/" + target)).identity.text)
  }

  @Test func `an unchanged file with a result needs no operation, and no file in staging`() throws {
    let record = chains.start(entry, earlier: [try delivered()])
    #expect(chains.unchanged() === record)
    let live = record.snapshot
    #expect(live.state == .filtered && live.attempts == 1)
    // The host scheduler learns how long the disk took.
    #expect(record.usage.isOwn && record.usage.bytes == live.source?.bytes)
    #expect(live.reused?.target == "images/\(entry.name).png")
    #expect(live.source?.bytes == (try FileStatus(of: sources.file("a.png")).size))
    #expect(chains.pending.downloadQueue.operationCount == 0 && chains.more().isEmpty)
    #expect(try chains.staged == ["job"])
    #expect(chains.pending.isIdle)
  }

  enum Change: String, CaseIterable {
    case file, noFile, checksum, result, noResult, recipe, smallest
    /// With these options no file is checked.
    case refresh, originals

    var isChecked: Bool { self != .refresh && self != .originals }
  }

  @Test(
    "an entry of which anything has changed is processed by operations, and has their errors",
    arguments: Change.allCases)
  func changed(_ change: Change) throws {
    var entry = entry
    let output = try delivered(recipe: change == .recipe ? "sepia(0.5)" : "sepia(1)")
    let (source, result) = (sources.file("a.png"), chains.folder.file("job/" + output.target))
    var failure: FailureCode?
    switch change {
    case .file:
      try FileManager.default.removeItem(atPath: source)
      try FileManager.default.copyItem(atPath: packageRoot + "/Samples/chelsea.jpg", toPath: source)
    case .noFile:
      try FileManager.default.removeItem(atPath: source)
      failure = .download(.fileNotFound)
    case .checksum:
      entry.checksum = try Checksum(parsing: "md5=" + String(repeating: "0", count: 32))
      failure = .download(.checksumMismatch)
    case .result: try chains.folder.write("wrong!", as: "job/" + output.target)
    case .noResult: try FileManager.default.removeItem(atPath: result)
    case .recipe: break
    case .smallest:
      chains.configure { $0.minPixels = 100 }
      failure = .filter(.imageTooSmall)
    case .refresh: chains.configure { $0.refresh = true }
    case .originals: chains.configure { $0.keepOriginals = true }
    }
    let record = chains.start(entry, earlier: [output])
    if change.isChecked { #expect(chains.unchanged() == nil) }
    #expect(chains.ended(1).first === record)
    let live = record.snapshot
    #expect(live.failure?.code == failure && live.state == (failure == nil ? .filtered : .failed))
    #expect(live.attempts == 1 && (live.reused != nil) == (change == .originals))
    #expect(live.artifacts.isEmpty == (failure != nil))
    #expect(chains.hasChecked() == false)
  }

  @Test("an entry that is cancelled before its file is read ends as such")
  func cancelled() throws {
    let record = chains.start(entry, earlier: [try delivered()])
    chains.pending.cancel(run: 1) { _ in true }
    #expect(chains.unchanged() == nil)
    #expect(chains.ended(1).first === record)
    #expect(record.state == .cancelled && record.attempts == 0)
  }

  @Test("an entry that was taken out of the queues while its file was checked is not put there again")
  func taken() throws {
    let record = chains.start(entry, earlier: [try delivered()])
    record.cancel()
    #expect(chains.pending.takeIdle(run: 1).first === record)
    #expect(chains.unchanged() == nil)
    #expect(chains.pending.inProgress.isEmpty && chains.pending.downloadQueue.operationCount == 0)
  }

  @Test("what was checked is let go of while others wait, as there may be a million of them")
  func released() throws {
    let (checked, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let files = UnchangedFiles {
      checked.signal()
      goesOn.wait()
    }
    weak var first: PhotoRecord?
    for position in 0..<3 {
      let record = PhotoRecord(try .sample(position, url: "a.png"))
      if position == 0 { first = record }
      files.add(
        UnchangedFiles.Candidate(
          record: record, earlier: EarlierResults(folder: chains.job, outputs: []), engine: chains.engine,
          output: OutputOptions(), limits: ImageLimits()))
    }
    files.start(limit: 1)
    checked.wait()
    #expect(files.takeChecked().map(\.entry.position) == [0])
    goesOn.signal()
    checked.wait()
    #expect(first == nil)
    #expect(files.takeChecked().map(\.entry.position) == [1])
    for _ in 0..<2 { goesOn.signal() }
    checked.wait()
    #expect(files.takeChecked().map(\.entry.position) == [2])
  }

  @Test("where the queues decide what begins no file is read, and the entry waits in them", arguments: [false, true])
  func suspended(_ isOneByOne: Bool) throws {
    let earlier = [try delivered()]
    let record = chains.start(entry, earlier: earlier)
    if isOneByOne { chains.pending.continueOneByOne() } else { chains.pending.suspendAll() }
    let later = chains.start(try .sample(1, url: "a.png", recipe: "sepia(1)"), earlier: earlier)
    chains.pending.checkFiles()
    #expect(chains.pending.filtrationQueue.operationCount == 2)
    chains.pending.resumeAll()
    #expect(Set(chains.ended(2).map(\.id)) == [record.id, later.id])
    #expect(record.snapshot.reused != nil && later.snapshot.reused != nil && !chains.hasChecked())
  }
}
