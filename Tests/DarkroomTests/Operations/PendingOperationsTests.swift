import Foundation
import Imaging
import System
import Testing
import TestSupport
import Transfer

@testable import Model
@testable import Operations

@Suite(.blocking) struct PendingOperationsTests {
  @Test("an entry is downloaded to memory or a file, then filtered", arguments: ["none", "sepia(0.8)"], [0, 1 << 20])
  func chain(recipe: String, memory: Int) throws {
    let chains = try Chains(memory: memory)
    let record = try chains.start(7, recipe: recipe)
    #expect(chains.ended(1).map(\.entry.position) == [7])
    let live = record.snapshot
    #expect(live.state == .filtered && live.failure == nil && live.attempts == 1)
    #expect(live.source?.bytes == 64_389 && live.source?.picture?.format == .png)
    let result = try #require(live.artifacts[.result]?.delivery)
    #expect(try chains.staged == [result.staged], "the download is not kept beside the result")
    #expect(try chains.staging.open().holds(result.staged, bytes: result.bytes, sha256: result.sha256))
    #expect((result.sha256 == live.source?.sha256) == (recipe == "none"))
    #expect(chains.pending.inProgress.isEmpty)
  }

  @Test(
    "what has a result's final name is compared when the result is made", arguments: ["equal", "another", "nothing"])
  func occupied(kind: String) throws {
    let chains = try Chains()
    try chains.folder.makeFolder("job/images")
    let record = try chains.start(0)
    _ = chains.ended(1)
    let made = try #require(record.artifacts[.result])
    #expect(made.existingFile == nil)
    let target = chains.folder.file("job/" + made.delivery.target)
    if kind != "nothing" { try made.file?.copy(to: OpenFile(creating: target)) }
    if kind == "another" {
      try OpenFolder(Folder.parent(of: target)).open(updating: Folder.name(of: target)).write("x")
    }
    let again = try chains.start(0)
    _ = chains.ended(1)
    let existingFile = again.artifacts[.result]?.existingFile
    #expect(existingFile?.kind == (kind == "equal" ? .equal : nil))
    #expect(try existingFile == nil || existingFile?.identity == FileStatus(of: target).identity)
    let provenance = again.artifacts[.result]?.delivery.origin.flatMap(Provenance.init(text:))
    #expect(provenance?.isAdopted == (kind == "equal"))
  }

  @Test("while suspended nothing starts; resumed, everything completes")
  func suspend() throws {
    let chains = try Chains()
    chains.pending.suspendAll()
    let records = try (0..<20).map { try chains.start($0) }
    try chains.fetch()
    #expect(chains.pending.isSuspended)
    #expect(records.allSatisfy { $0.snapshot.attempts == 0 && $0.state == .new })
    #expect(chains.more().isEmpty)
    chains.pending.resumeAll()
    #expect(Set(chains.ended(20).map(\.entry.position)) == Set(0..<20))
    #expect(records.allSatisfy { $0.state == .filtered })
  }

  @Test("a download that was changed in staging is not copied, but made again", arguments: [-1, 1, 100_000])
  func changedDownload(by bytes: Int) throws {
    let (chains, server) = (try Chains(downloads: 1, memory: 0), try Chains.gate())
    let record = try chains.start(0, url: server.url("a"), recipe: "none")
    #expect(try server.nextLine() == "came")
    chains.pending.suspendAll()
    let download = try #require(chains.operations(of: 0)?.download)
    try chains.fetch(server.url("go"))
    download.waitUntilFinished()
    let size = try #require(record.source?.bytes)
    let path = chains.folder.file(chains.staging.download(0))
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.truncate(atOffset: UInt64(size + bytes))
    try file.close()
    chains.pending.resumeAll()
    _ = chains.ended(1)
    let failure = try #require(record.failure)
    #expect(try record.state != .filtered && chains.staged.isEmpty)
    if bytes > 0 { #expect(failure.code == .io && failure.disposition == .restart) }
  }

  @Test(
    "a source that waits for its filtration takes no file, if there is memory for it",
    arguments: [(0, false), (64_388, false), (64_389, true)], ["none", "sepia(1)"])
  func inMemory(_ limit: (memory: Int, isEnough: Bool), recipe: String) throws {
    let (chains, server) = (try Chains(downloads: 1, memory: limit.memory), try Chains.gate())
    let record = try chains.start(0, url: server.url("a"), recipe: recipe)
    #expect(try server.nextLine() == "came")
    chains.pending.suspendAll()
    let download = try #require(chains.operations(of: 0)?.download)
    try chains.fetch(server.url("go"))
    download.waitUntilFinished()
    #expect(try chains.staged == (limit.isEnough ? [] : [chains.staging.download(0)]))
    chains.pending.resumeAll()
    #expect(chains.ended(1).map(\.state) == [.filtered])
    #expect(try chains.staged == [record.artifacts[.result]?.delivery.staged])
    // The memory is free again.
    let next = try chains.start(1, recipe: recipe)
    #expect(chains.ended(1).map(\.state) == [.filtered])
    #expect(next.bodyBytes == nil)
  }

  @Test("a request that must not be repeated is not sent if its file cannot be created")
  func postWithoutFile() throws {
    let (chains, server) = (try Chains(), try Chains.gate())
    try chains.folder.makeFolder(chains.staging.download(0))
    let entry = Entry(
      urls: [server.url("a")], request: try SourceRequest(method: .post, headers: [], content: nil), name: "a",
      recipe: try Recipe(parsing: "none"), options: OutputOptions(), priority: .normal)
    let record = chains.start(entry)
    #expect(chains.ended(1).map(\.state) == [.failed])
    #expect(record.snapshot.usage.requests.sent == 0)
  }

  @Test("what runs when the queues are suspended finishes, and its filtration waits")
  func suspendWhileRunning() throws {
    let (chains, server) = (try Chains(downloads: 1), try Chains.gate())
    let record = try chains.start(0, url: server.url("a"), recipe: "sepia(1)")
    let waiting = try chains.start(1)
    #expect(try server.nextLine() == "came")
    chains.pending.suspendAll()
    let download = try #require(chains.operations(of: 0)?.download)
    try chains.fetch(server.url("go"))
    download.waitUntilFinished()
    try chains.fetch()
    #expect(record.state == .downloaded)
    #expect(waiting.snapshot.attempts == 0)
    #expect(chains.more().isEmpty)
    chains.pending.resumeAll()
    #expect(Set(chains.ended(2).map(\.state)) == [.filtered])
  }

  @Test(
    "after a failed download the filtration does nothing",
    arguments: [
      ("missing.png", "file-not-found"), ("../Package.swift", "address-not-allowed"),
      ("ftp://h/x", "scheme-not-allowed"), ("", "url-invalid"),
    ])
  func failedDownload(url: String, code: String) throws {
    let chains = try Chains()
    let record = try chains.start(0, url: url, recipe: "sepia(1)")
    _ = chains.ended(1)
    #expect(record.state == .failed)
    #expect(record.snapshot.failure?.code.stage == .download && record.snapshot.failure?.code.text == code)
    #expect(record.snapshot.timings.filter == nil)
    #expect(try chains.staged.isEmpty)
  }

  @Test("what is no picture fails in the filtration and leaves nothing in staging", arguments: ["none", "sepia(1)"])
  func notAnImage(recipe: String) throws {
    let chains = try Chains()
    let record = try chains.start(0, url: "CREDITS.md", recipe: recipe)
    _ = chains.ended(1)
    #expect(record.snapshot.failure?.code.stage == .filter && record.snapshot.failure?.code.text == "not-an-image")
    #expect(try chains.staged.isEmpty)
  }

  @Test("cancelled in suspended queues, entries end once the queues run, and none is downloaded")
  func cancelWaiting() throws {
    let chains = try Chains()
    chains.pending.suspendAll()
    let records = try (0..<50).map { try chains.start($0) }
    chains.pending.cancelWaiting()
    chains.pending.resumeAll()
    #expect(Set(chains.ended(50).map(\.entry.position)) == Set(0..<50))
    #expect(records.allSatisfy { $0.state == .cancelled && $0.snapshot.attempts == 0 })
    #expect(try chains.staged.isEmpty)
    #expect(chains.pending.inProgress.isEmpty)
  }

  @Test("cancelling what waits lets what runs finish")
  func cancelWaitingWhileRunning() throws {
    let (chains, server) = (try Chains(downloads: 1), try Chains.gate())
    let running = try chains.start(0, url: server.url("a"))
    #expect(try server.nextLine() == "came")
    let waiting = try (1..<10).map { try chains.start($0) }
    chains.pending.cancelWaiting()
    try chains.fetch(server.url("go"))
    _ = chains.ended(10)
    #expect(running.state == .filtered)
    #expect(waiting.allSatisfy { $0.state == .cancelled })
  }

  @Test func `the first answer is known before its download ends`() throws {
    let chains = try Chains()
    let server = try PythonServer(
      PythonServer.prelude + """
        gate = threading.Event()

        def answer(connection, path):
            if path == "/go":
                gate.set()
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 2\\r\\n\\r\\n")
            gate.wait()
            connection.sendall(b"ok")

        serve()
        """)
    try chains.start(0, url: server.url("unasked"))
    try chains.start(1, url: server.url("asked"), reportsAnswer: true)
    #expect(chains.answers().map(\.entry.position) == [1])
    #expect(chains.pending.inProgress.count == 2 && chains.more().isEmpty)
    try chains.fetch(server.url("go"))
    _ = chains.ended(2)
  }

  @Test("cancelling everything ends what runs, and no entry ends before its download has", arguments: 0..<20)
  func cancelAll(round: Int) throws {
    let (chains, server) = (try Chains(downloads: 2), try Chains.gate())
    let records = try (0..<5).map { try chains.start($0, url: server.url("\($0)")) }
    for _ in 0..<2 { #expect(try server.nextLine() == "came") }
    let downloads = chains.pending.inProgress.values.compactMap(\.operations?.download)
    for _ in 0..<3 { chains.pending.cancelAll() }
    _ = chains.ended(5)
    #expect(downloads.allSatisfy { $0.isFinished })
    #expect(records.allSatisfy { $0.state == .cancelled })
    #expect(try chains.staged.isEmpty)
  }

  @Test("cancelled after their downloads, in suspended queues, entries do nothing more")
  func cancelBetween() throws {
    let (chains, server) = (try Chains(downloads: 3), try Chains.gate())
    let records = try (0..<3).map { try chains.start($0, url: server.url("\($0)"), recipe: "sepia(1)") }
    for _ in 0..<3 { #expect(try server.nextLine() == "came") }
    chains.pending.suspendAll()
    try chains.fetch(server.url("go"))
    chains.pending.downloadQueue.waitUntilAllOperationsAreFinished()
    #expect(records.allSatisfy { $0.state == .downloaded })
    chains.pending.cancelWaiting()
    chains.pending.resumeAll()
    _ = chains.ended(3)
    #expect(records.allSatisfy { $0.state == .cancelled && $0.snapshot.timings.filter == nil })
    #expect(try chains.staged.isEmpty)
  }

  @Test("the higher priority comes first, then the earlier entry")
  func priorities() throws {
    let workers = try Workers(sleeping: 1)
    let chains = try Chains(downloads: 1, filtrations: 1, fileRoot: workers.folder.path, pool: workers.pool)
    chains.pending.suspendAll()
    for (position, priority) in [Entry.Priority.low, .normal, .veryHigh, .veryLow, .high, .normal, .veryHigh]
      .enumerated()
    {
      try chains.start(position, url: "sleep", recipe: "sepia(0.\(position + 1))", priority: priority)
    }
    chains.pending.downloadQueue.isSuspended = false
    chains.waitForReadyFiltrations()
    chains.pending.resumeAll()
    #expect(chains.cancelOneByOne(7) == [2, 6, 4, 1, 5, 0, 3])
  }

  @Test("each of several hundred entries ends exactly once, whatever comes of it")
  func exactlyOnce() throws {
    let chains = try Chains(downloads: 16, filtrations: 4)
    let sources = [Chains.source, "missing.png", "rocket.jpg", "CREDITS.md", "ftp://h/x"]
    let count = 600
    var (ends, next) = (Array(repeating: 0, count: count), 0)
    while ends.reduce(0, +) < count {
      while next < count, chains.hasRoom() {
        try chains.start(next, url: sources[next % sources.count])
        next += 1
        if next % 97 == 0 { chains.pending.suspendAll() }
      }
      chains.pending.resumeAll()
      for record in chains.ended(1) {
        ends[record.entry.position] += 1
        let isPicture = [0, 2].contains(record.entry.position % sources.count)
        #expect(record.state == (isPicture ? .filtered : .failed))
      }
    }
    #expect(ends.allSatisfy { $0 == 1 })
    chains.engine.shutdown()
    #expect(chains.more().isEmpty)
    #expect(chains.pending.inProgress.isEmpty)
  }

  @Test("when the engine goes, everything ends")
  func shutdown() throws {
    let (chains, server) = (try Chains(), try Chains.gate())
    let records = try (0..<30).map { try chains.start($0, url: server.url("\($0)")) }
    #expect(try server.nextLine() == "came")
    chains.engine.shutdown()
    _ = chains.ended(30)
    #expect(records.allSatisfy { $0.state == .cancelled })
  }

  @Test("an end that takes long holds up no operations but its own")
  func slowEnd() throws {
    let gate = DispatchSemaphore(value: 0)
    let waited = try Mailbox<DispatchTimeoutResult>()
    let slow = try Chains { waited.post(gate.wait(timeout: .now() + 60)) }
    try slow.start(0)
    let others = try Chains()
    try others.start(0)
    #expect(others.ended(1).map(\.state) == [.filtered])
    gate.signal()
    #expect(slow.ended(1).map(\.state) == [.filtered])
    #expect(waited.collect() == [.success])
  }

  @Test("only so many entries are admitted at once, and those of lower priority take no room from higher ones")
  func window() throws {
    let chains = try Chains(downloads: 3, filtrations: 2)
    chains.pending.suspendAll()
    var count = 0
    while chains.hasRoom(), count < 1000 {
      try chains.start(count)
      count += 1
    }
    #expect(count == 7, "three that run and four that wait")
    #expect(chains.hasRoom(for: .high) && !chains.hasRoom(for: .low))
    while chains.hasRoom(for: .veryHigh), count < 1000 {
      try chains.start(count, priority: .veryHigh)
      count += 1
    }
    #expect(count == 14)
    #expect(chains.pending.lowestPriorityWithRoom(besides: 0) == nil)
    chains.pending.resumeAll()
    _ = chains.ended(count)
    #expect(chains.hasRoom(for: .veryLow))
  }

  @Test("what is downloaded takes no place of downloads, what waits for its filtration still takes one of entries")
  func downloaded() throws {
    let chains = try Chains(downloads: 3, filtrations: 2)
    chains.pending.filtrationQueue.isSuspended = true
    var count = 0
    while chains.hasRoom(), count < 1000 {
      let record = try chains.start(count)
      chains.waitForDownloads(1)
      chains.pending.downloadHasEnded(record)
      chains.pending.downloadHasEnded(record)
      count += 1
    }
    #expect(count == 18)
    chains.pending.filtrationQueue.isSuspended = false
    _ = chains.ended(count)
    #expect(chains.hasRoom(for: .veryLow))
  }
}
