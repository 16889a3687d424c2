import Foundation
import Imaging
import System
import Testing
import TestSupport

@testable import Model
@testable import Operations

@Suite(.blocking) struct SharedFiltrationsTests {
  /// Starts entries of the same source and recipe, and has them wait at the filtrations' door.
  private func start(_ count: Int, source: String = Chains.source) throws -> (chains: Chains, records: [PhotoRecord]) {
    let chains = try Chains(downloads: 16)
    chains.pending.filtrationQueue.isSuspended = true
    let records = try (0..<count).map { try chains.start($0, url: source, recipe: "sepia(1)") }
    chains.waitForDownloads(count)
    return (chains, records)
  }

  private func resume(_ chains: Chains) { chains.pending.filtrationQueue.isSuspended = false }

  /// The ones that did the work: they needed their source.
  private func removeSources(of records: ArraySlice<PhotoRecord>, _ chains: Chains) {
    for record in records { chains.staging.remove(chains.staging.download(record.entry.position)) }
  }

  @Test func `what several entries come to is made once, and each gets a file of its own`() throws {
    let (chains, records) = try start(6)
    let first = try #require(
      chains.pending.inProgress.values.first { $0.operations?.filtration.dependencies.count == 1 })
    for record in records where record !== first.record { removeSources(of: [record], chains) }
    resume(chains)
    #expect(Set(chains.ended(6).map(\.state)) == [.filtered])
    #expect(Set(records.compactMap { $0.artifacts[.result]?.delivery.sha256 }).count == 1)
    #expect(records.allSatisfy { $0.snapshot.source?.picture != nil })
    let inodes = try chains.staged.map { try FileStatus(of: chains.staging.path($0)).identity.inode }
    #expect(Set(inodes).count == 6, "whoever changes one changes no other")
  }

  @Test(arguments: 0..<4)
  func `cancelling one leaves the others`(cancelled: Int) throws {
    let (chains, records) = try start(4)
    records[cancelled].cancel()
    resume(chains)
    #expect(chains.ended(4).count == 4)
    for (position, record) in records.enumerated() {
      #expect(record.state == (position == cancelled ? .cancelled : .filtered))
    }
    #expect(try chains.staged.count == 3)
    #expect(chains.more().isEmpty)
  }

  @Test(arguments: 0..<20)
  func `cancelled while it is made, each ends once`(_: Int) throws {
    let (chains, records) = try start(6, source: "coffee.jpg")
    resume(chains)
    for position in stride(from: 0, to: 6, by: 2) {
      records[position].cancel()
      let filtration = chains.operations(of: position)?.filtration
      if filtration?.isExecuting == true { filtration?.cancel() }
    }
    #expect(Set(chains.ended(6).map(\.entry.position)) == Set(0..<6))
    for position in stride(from: 1, to: 6, by: 2) { #expect(records[position].state == .filtered) }
    #expect(chains.more().isEmpty)
  }

  @Test func `what makes a result for an entry of higher priority gets that priority`() throws {
    let workers = try Workers(sleeping: 1)
    let chains = try Chains(downloads: 16, filtrations: 1, fileRoot: workers.folder.path, pool: workers.pool)
    chains.pending.filtrationQueue.isSuspended = true
    try chains.start(0, url: "sleep", recipe: "sepia(0.5)", priority: .veryLow)
    chains.waitForDownloads(1)
    for position in 1..<4 {
      try chains.start(position, url: "sleep", recipe: "sepia(0.\(position))")
      chains.waitForDownloads(1)
    }
    try chains.start(4, url: "sleep", recipe: "sepia(0.5)", priority: .veryHigh)
    chains.waitForDownloads(1)
    chains.waitForReadyFiltrations(besides: 4)
    chains.pending.filtrationQueue.isSuspended = false
    #expect(chains.cancelOneByOne(5) == [0, 4, 1, 2, 3])
  }

  @Test func `what one cannot deliver another makes for itself`() throws {
    let (chains, records) = try start(4)
    let first = try #require(
      chains.pending.inProgress.values.first { $0.operations?.filtration.dependencies.count == 1 })
    first.record.fail(EntryFailure(code: .io, message: "", disposition: .waitForSpace))
    resume(chains)
    #expect(chains.ended(4).filter { $0.state == .filtered }.count == 3)
    #expect(records.filter { $0.state == .failed }.count == 1)
  }

  @Test func `a source that cannot be decoded is everybody's failure`() throws {
    let (chains, records) = try start(3, source: "CREDITS.md")
    resume(chains)
    #expect(Set(chains.ended(3).map(\.state)) == [.failed])
    #expect(records.allSatisfy { $0.snapshot.failure?.code.text == "not-an-image" })
    #expect(try chains.staged.isEmpty)
  }

  @Test(arguments: DamagePolicy.allCases)
  func `entries that accept damage and others that do not share no result of a damaged picture`(
    first: DamagePolicy
  ) throws {
    let sources = try TemporaryFolder()
    let whole = try Data(contentsOf: URL(fileURLWithPath: packageRoot + "/Samples/chelsea.jpg"))
    try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: sources.file("cut.jpg")))
    let chains = try Chains(downloads: 16, fileRoot: sources.path)
    chains.pending.filtrationQueue.isSuspended = true
    let second = first == .fail ? DamagePolicy.accept : .fail
    let policies = [first, second, first, second]
    let records = try policies.enumerated().map { position, policy in
      chains.configure { $0.output.damaged = policy }
      let record = try chains.start(position, url: "cut.jpg", recipe: "sepia(1)")
      chains.waitForDownloads(1)
      return record
    }
    resume(chains)
    #expect(chains.ended(4).count == 4)
    for (record, policy) in zip(records, policies) {
      #expect(record.state == (policy == .accept ? .filtered : .failed))
      #expect((record.snapshot.failure?.code.text == "image-truncated") == (policy == .fail))
      #expect((record.snapshot.result?.warnings.map(\.code) == [.pixelDamage]) == (policy == .accept))
    }
    // Those that agree share what they make.
    #expect(Set(records.compactMap { $0.artifacts[.result]?.delivery.sha256 }).count == 1)
  }
}
