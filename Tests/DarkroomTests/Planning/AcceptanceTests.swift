import Database
import Foundation
import Glibc
import Imaging
import Ledger
import Synchronization
import System
import Testing
import TestSupport

@testable import Darkroom
@testable import Model
@testable import Planning

@Suite struct AcceptanceTests {
  private let folder: TemporaryFolder
  private let ledger: Ledger
  private let acceptance: Acceptance
  private let inbox: OpenFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["inbox", "state/jobs"] { try folder.makeFolder(name) }
    inbox = try OpenFolder(folder.file("inbox"))
    let ledger = try Ledger(path: folder.file("state/ledger.sqlite"))
    self.ledger = ledger
    let configuration = Configuration(
      inbox: folder.file("inbox"), outbox: folder.file("outbox"), filters: try Recipe(parsing: "sepia(0.8)"),
      processors: 1)
    acceptance = Acceptance(
      state: StateFolder(path: folder.file("state")), configuration: configuration,
      record: { job, _ in try ledger.commit([.accept(job)]) })
  }

  private func accept(_ name: String) throws -> LedgerJob? {
    try acceptance.accept(path: folder.file(name), in: inbox, job: "a", format: "txt")
  }

  @Test("an accepted manifest has a snapshot with its bytes, a row in the ledger, and stays where it is")
  func accepted() throws {
    try folder.write("http://h/a\n", as: "inbox/a.TXT")
    let job = try #require(try accept("inbox/a.TXT"))
    #expect(try ledger.liveJobs() == [job])
    #expect(folder.text("state/jobs/\(job.runID).txt") == "http://h/a\n")
    #expect(folder.text("inbox/a.TXT") == "http://h/a\n")
    let manifest = try JobManifest(text: job.details)
    #expect(manifest.file == "a.TXT" && manifest.inboxPath == folder.file("inbox/a.TXT"))
    #expect(try FileStatus(of: folder.file("inbox/a.TXT")).identity.text == manifest.identity)
    #expect(manifest.sha256.count == 64)
    let defaults = try manifest.defaults
    #expect(defaults.recipe.description == "sepia(0.8)")
  }

  @Test func `a job keeps the recipes of its acceptance, and the same bytes with others are another manifest`() throws {
    func manifest(_ recipe: String?) throws -> JobManifest {
      var configuration = Configuration()
      if let recipe { configuration.recipes = try NamedRecipes(parsing: [("card", recipe)]) }
      let manifest = JobManifest(
        file: "a.txt", format: "txt", sha256: "0", inboxPath: nil, identity: "", accepted: 0,
        configuration: configuration)
      return try JobManifest(text: manifest.text)
    }
    let kept = try manifest("flip() resize(16 16)")
    #expect(try Recipe(parsing: "card", named: kept.defaults.recipes).description == "flip() resize(fit 16 16)")
    #expect(try kept.isSame(as: manifest("flip() resize(fit 16 16)")))
    #expect(try !kept.isSame(as: manifest("flop()")) && !kept.isSame(as: manifest(nil)))
    #expect(try manifest(nil).isSame(as: manifest(nil)) && manifest(nil).defaults.recipes.isEmpty)
  }

  @Test("a manifest that was named without a folder keeps its whole name")
  func bareName() throws {
    let name = "darkroom-test-\(UUID().uuidString).txt"
    try Data("http://h/a".utf8).write(to: URL(fileURLWithPath: name))
    defer { unlink(name) }
    let job = try #require(try acceptance.accept(path: name, in: nil, job: "a", format: "txt"))
    let manifest = try JobManifest(text: job.details)
    #expect(manifest.file == name && manifest.inboxPath == nil)
  }

  @Test(
    "what is no regular file is not accepted and leaves nothing behind",
    arguments: ["missing", "link", "pipe", "folder"])
  func notAFile(kind: String) throws {
    try folder.write("secret", as: "target")
    try folder.link("inbox/link", to: "../target")
    mkfifo(folder.file("inbox/pipe"), 0o600)
    try folder.makeFolder("inbox/folder")
    #expect(try accept("inbox/\(kind)") == nil)
    #expect(try ledger.liveJobs().isEmpty)
    #expect(try folder.names(in: "state/jobs").isEmpty)
  }

  @Test("a file that is written while it is copied is not accepted")
  func growing() throws {
    let file = try OpenFile(creating: folder.file("inbox/a.txt"))
    let megabyte = String(repeating: "http://h/0123456\n", count: 1 << 16)
    for _ in 0..<32 { try file.write(megabyte) }
    let writer = Writer(file)
    // On a busy machine nothing may be written while it is copied.
    let accepted = try (0..<8).count { _ in try accept("inbox/a.txt") != nil }
    writer.stop()
    #expect(accepted < 8)
    #expect(try ledger.liveJobs().count == accepted)
    #expect(try folder.names(in: "state/jobs").count == accepted)
    #expect(try accept("inbox/a.txt") != nil, "once it is quiet it is accepted")
  }

  @Test("an acceptance that is not recorded leaves nothing behind, and its snapshot was there when it was to be")
  func unrecorded() throws {
    struct Refusal: Error {}
    let (state, folder) = (acceptance.state, folder)
    var recorded: [LedgerJob] = []
    let acceptance = Acceptance(state: state, configuration: acceptance.configuration) { job, _ in
      recorded.append(job)
      #expect(folder.text("state/jobs/\(job.runID).csv.gz") == "bytes")
      throw Refusal()
    }
    try folder.write("bytes", as: "inbox/a.CSV.gz")
    for _ in 0..<2 {
      #expect(throws: Refusal.self) {
        try acceptance.accept(path: folder.file("inbox/a.CSV.gz"), in: inbox, job: "a", format: "csv")
      }
      #expect(try folder.names(in: "state/jobs").isEmpty)
    }
    #expect(Set(recorded.map(\.runID)).count == 2)
    #expect(folder.text("inbox/a.CSV.gz") == "bytes")
  }

  @Test("a file that is not the one that was found settled is not accepted and leaves nothing behind")
  func anotherFile() throws {
    try folder.write("http://h/a\n", as: "inbox/a.txt")
    let expected = try FileStatus(of: folder.file("inbox/a.txt")).identity
    func accept() throws -> LedgerJob? {
      try acceptance.accept(path: folder.file("inbox/a.txt"), in: inbox, job: "a", format: "txt", as: expected)
    }
    #expect(try accept() != nil)
    try Folder.rename(folder.write("http://h/b\n", as: "inbox/.b"), to: folder.file("inbox/a.txt"))
    #expect(try accept() == nil)
    #expect(try ledger.liveJobs().count == 1)
    #expect(try folder.names(in: "state/jobs").count == 1)
  }

  @Test("a file that somebody has open for writing is not accepted and leaves nothing behind")
  func openFile() throws {
    try folder.write("http://h/a\n", as: "inbox/a.txt")
    let expected = try FileStatus(of: folder.file("inbox/a.txt")).identity
    func accept() throws -> LedgerJob? {
      try acceptance.accept(path: folder.file("inbox/a.txt"), in: inbox, job: "a", format: "txt", as: expected)
    }
    let writer = try inbox.open(appending: "a.txt")
    let job = try accept()
    withExtendedLifetime(writer) { #expect(job == nil) }
    #expect(try folder.names(in: "state/jobs").isEmpty)
    #expect(try ledger.liveJobs().isEmpty)
  }

  @Test(
    "an acceptance for which there is no room leaves nothing behind",
    .disabled(if: SmallDisk.obstacle != nil, Comment(rawValue: SmallDisk.obstacle ?? "")))
  func noRoom() throws {
    let disk = try SmallDisk(over: folder.file("state/jobs"), in: folder, kilobytes: 64)
    try folder.write(String(repeating: "http://h/a\n", count: 10_000), as: "inbox/a.txt")
    for _ in 0..<2 { #expect(throws: SystemError.self) { try accept("inbox/a.txt") } }
    #expect(try folder.names(in: "state/jobs").isEmpty)
    try folder.write("http://h/a\n", as: "inbox/a.txt")
    #expect(try accept("inbox/a.txt") != nil, "the disk has not filled up")
    withExtendedLifetime(disk) {}
  }

  /// A manifest of 12 GiB that takes no room, with a line at its beginning.
  private func makeSparse(_ name: String) throws {
    let file = try OpenFile(creating: folder.file(name))
    try file.write("http://h/a\n")
    try file.truncate(to: 12 << 30)
  }

  @Test(
    "a sparse manifest is rejected without being read", arguments: ["txt", "jsonl", "csv", "txt.gz", "json", "plist"])
  func sparse(suffix: String) throws {
    let name = "inbox/a." + suffix
    try makeSparse(name)
    let format = String(suffix.prefix { $0 != "." })
    let began = ContinuousClock.now
    let job = try #require(
      try acceptance.accept(path: folder.file(name), in: inbox, job: "a", format: format, isCancelled: { true }))
    #expect(ContinuousClock.now - began < .seconds(5))
    let manifest = try JobManifest(text: job.details)
    #expect(manifest.sha256.isEmpty)
    #expect(try #require(manifest.tooLarge).contains(["json", "plist"].contains(suffix) ? "67108864" : "sparse"))
    #expect(folder.text("state/jobs/\(job.runID).\(suffix)") == "")
  }

  @Test("a manifest of zeros is rejected after a few MiB", arguments: ["txt", "jsonl", "csv"])
  func zeros(suffix: String) throws {
    let file = try OpenFile(creating: folder.file("inbox/a." + suffix))
    try file.write("http://h/a\n")
    for _ in 0..<64 { try file.write(String(repeating: "\0", count: 1 << 20)) }
    var pieces = 0
    let job = try #require(
      try acceptance.accept(
        path: folder.file("inbox/a." + suffix), in: inbox, job: "a", format: suffix,
        isCancelled: {
          pieces += 1
          return false
        }))
    #expect(pieces < 70, "of 256 KiB")
    let why = try #require(try JobManifest(text: job.details).tooLarge)
    #expect(why.contains("from byte 11 on"), "\(why)")
    #expect(folder.text("state/jobs/\(job.runID).\(suffix)") == "")
  }

  @Test("a copy ends when it is cancelled or the file is removed, and leaves nothing behind", arguments: [true, false])
  func cancelled(isRemoved: Bool) throws {
    let file = try OpenFile(creating: folder.file("inbox/a.txt"))
    let megabyte = String(repeating: "http://h/0123456\n", count: 1 << 16)
    for _ in 0..<64 { try file.write(megabyte) }
    var pieces = 0
    func accept() throws -> LedgerJob? {
      try acceptance.accept(path: folder.file("inbox/a.txt"), in: inbox, job: "a", format: "txt") {
        pieces += 1
        if isRemoved, pieces == 3 { unlink(folder.file("inbox/a.txt")) }
        return !isRemoved && pieces == 3
      }
    }
    if isRemoved {
      #expect(try accept() == nil)
      #expect(pieces < 70)
    } else {
      #expect(throws: CancellationError.self) { try accept() }
    }
    #expect(try folder.names(in: "state/jobs").isEmpty)
    #expect(try ledger.liveJobs().isEmpty)
  }

  /// Appends to a file without a break.
  private final class Writer: Sendable {
    private let isStopped = Atomic(false)
    private let done = DispatchSemaphore(value: 0)

    /// Returns once the first line is written.
    init(_ file: OpenFile) {
      let started = DispatchSemaphore(value: 0)
      Thread.detachNewThread { [self] in
        try? file.write("http://h/first\n")
        started.signal()
        while !isStopped.load(ordering: .relaxed) { try? file.write("http://h/more\n") }
        done.signal()
      }
      started.wait()
    }

    func stop() {
      isStopped.store(true, ordering: .relaxed)
      done.wait()
    }
  }
}
