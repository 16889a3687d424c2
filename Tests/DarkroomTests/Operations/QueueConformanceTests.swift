import Foundation
import Synchronization
import System
import Testing
import TestSupport
import Transfer

@testable import Model
@testable import Operations

/// What the documentation of Foundation's `OperationQueue` and `Operation` promises, for the two queues and their chains.
///
/// `PendingOperationsTests` has more: suspension before the start, priorities, and what cancelling all at once comes to.
@Suite(.blocking) struct QueueConformanceTests {
  /// A server that answers each request, once it is told to: `/go?N` lets N of them go. It says the path of each that came.
  private static func gate() throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + """
        gate = threading.Semaphore(0)
        body = open(sys.argv[1], "rb").read()

        def answer(connection, path):
            if path.startswith("/go"):
                gate.release(int(path.split("?")[1]))
            else:
                say(path)
                gate.acquire()
            head = b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
            connection.sendall(head + body)

        serve()
        """, [packageRoot + "/Samples/" + Chains.source])
  }

  /// How many of its blocks run at once, and in which order they began.
  private final class Counter: Sendable {
    private let state = Mutex((running: 0, most: 0, order: [Int]()))

    var most: Int { state.withLock { $0.most } }
    var order: [Int] { state.withLock { $0.order } }

    func operation(_ number: Int, _ body: @escaping @Sendable () -> Void = {}) -> BlockOperation {
      BlockOperation { [self] in
        state.withLock {
          $0.running += 1
          $0.most = max($0.most, $0.running)
          $0.order.append(number)
        }
        body()
        state.withLock { $0.running -= 1 }
      }
    }
  }

  // MARK: maxConcurrentOperationCount

  @Test(arguments: [1, 2, 5])
  func `no more downloads run at once than the queue's limit, and so many do`(limit: Int) throws {
    let (chains, server) = (try Chains(downloads: limit, perHost: HostLimit(fixed: 100)), try Self.gate())
    for position in 0..<3 * limit { try chains.start(position, url: server.url("\(position)")) }
    for _ in 0..<limit { _ = try server.nextLine() }
    var ended = 0
    while ended < 3 * limit {
      let executing = chains.pending.inProgress.values.count { $0.operations?.download.isExecuting == true }
      #expect(executing <= limit)
      // Each that ends makes room for one.
      try chains.fetch(server.url("go?1"))
      ended += chains.ended(1).count
      if ended <= 2 * limit { _ = try server.nextLine() }
    }
  }

  @Test(arguments: [1, 2, 5])
  func `no more filtrations run at once than the queue's limit, and so many do`(limit: Int) throws {
    let chains = try Chains(filtrations: limit)
    let counter = Counter()
    let (arrived, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let queue = chains.pending.filtrationQueue
    for number in 0..<4 * limit {
      queue.addOperation(
        counter.operation(number) {
          arrived.signal()
          gate.wait()
        })
    }
    for _ in 0..<limit { arrived.wait() }
    #expect(counter.most == limit)
    for _ in 0..<4 * limit { gate.signal() }
    queue.waitUntilAllOperationsAreFinished()
    #expect(counter.most == limit && Set(counter.order) == Set(0..<4 * limit))
  }

  /// The pictures are such that their workers do nothing until they are cancelled.
  @Test(arguments: [1, 2, 3])
  func `filtrations of pictures start first in, first out, no more at once than the queue's limit, and so many do`(
    limit: Int
  ) throws {
    let workers = try Workers(sleeping: limit)
    let chains = try Chains(downloads: 9, filtrations: limit, fileRoot: workers.folder.path, pool: workers.pool)
    chains.pending.filtrationQueue.isSuspended = true
    let count = 3 * limit
    // Each makes another result, and downloads end in any order.
    for position in 0..<count { try chains.start(position, url: "sleep", recipe: "sepia(0.\(position + 1))") }
    chains.waitForReadyFiltrations()
    chains.pending.filtrationQueue.isSuspended = false
    for position in 0..<count {
      let expected = Array(position..<min(position + limit, count))
      #expect(chains.runningFiltrations(expected.count) == expected)
      chains.pending.cancel(run: 1) { $0 == position }
      let ended = chains.ended(1)
      #expect(ended.map(\.entry.position) == [position] && ended.map(\.state) == [.cancelled])
    }
    #expect(try chains.staged.isEmpty && chains.more().isEmpty)
  }

  @Test func `a limit that is lowered ends nothing that runs, and holds for what starts then`() throws {
    let (chains, server) = (try Chains(downloads: 4, perHost: HostLimit(fixed: 100)), try Self.gate())
    let records = try (0..<8).map { try chains.start($0, url: server.url("\($0)")) }
    for _ in 0..<4 { _ = try server.nextLine() }
    chains.pending.downloadQueue.maxConcurrentOperationCount = 1
    try chains.fetch(server.url("go?4"))
    #expect(chains.ended(4).allSatisfy { $0.state == .filtered })
    for _ in 4..<8 {
      _ = try server.nextLine()
      #expect(chains.pending.inProgress.values.count { $0.operations?.download.isExecuting == true } == 1)
      try chains.fetch(server.url("go?1"))
      _ = chains.ended(1)
    }
    #expect(records.allSatisfy { $0.state == .filtered && $0.snapshot.attempts == 1 })
  }

  // MARK: Order

  @Test func `within a priority downloads start first in, first out`() throws {
    let (chains, server) = (try Chains(downloads: 1), try Self.gate())
    try chains.fetch(server.url("go?60"))
    chains.pending.suspendAll()
    for position in 0..<60 {
      try chains.start(position, url: server.url("\(position)"), priority: position % 3 == 0 ? .high : .normal)
    }
    chains.pending.resumeAll()
    let order = (0..<60).filter { $0 % 3 == 0 } + (0..<60).filter { $0 % 3 != 0 }
    #expect(try order.map { _ in try server.nextLine() } == order.map { "/\($0)" })
    _ = chains.ended(60)
  }

  @Test func `within a priority filtrations start first in, first out`() throws {
    let chains = try Chains(filtrations: 1)
    let (counter, queue) = (Counter(), chains.pending.filtrationQueue)
    queue.isSuspended = true
    for number in 0..<60 {
      let operation = counter.operation(number)
      operation.queuePriority = number % 3 == 0 ? .high : .normal
      queue.addOperation(operation)
    }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(counter.order == (0..<60).filter { $0 % 3 == 0 } + (0..<60).filter { $0 % 3 != 0 })
  }

  @Test func `within a priority filtrations of pictures start first in, first out, whichever was downloaded first`()
    throws
  {
    let workers = try Workers(sleeping: 1)
    let chains = try Chains(downloads: 16, filtrations: 1, fileRoot: workers.folder.path, pool: workers.pool)
    chains.pending.filtrationQueue.isSuspended = true
    for position in 0..<12 {
      try chains.start(
        position, url: "sleep", recipe: "sepia(0.\(position + 10))", priority: position % 3 == 0 ? .high : .normal)
    }
    chains.waitForReadyFiltrations()
    chains.pending.filtrationQueue.isSuspended = false
    #expect(chains.cancelOneByOne(12) == (0..<12).filter { $0 % 3 == 0 } + (0..<12).filter { $0 % 3 != 0 })
  }

  // MARK: isSuspended

  @Test func `a suspended queue lets what runs finish, takes in more, and starts it when it is resumed`() throws {
    let (chains, server) = (try Chains(downloads: 2), try Self.gate())
    let running = try (0..<2).map { try chains.start($0, url: server.url("\($0)")) }
    for _ in 0..<2 { _ = try server.nextLine() }
    chains.pending.suspendAll()
    let added = try (2..<6).map { try chains.start($0, url: server.url("\($0)")) }
    let downloads = (0..<2).compactMap { chains.operations(of: $0)?.download }
    try chains.fetch(server.url("go?2"))
    for download in downloads { download.waitUntilFinished() }
    // More would have started by now, if any did.
    try chains.fetch()
    #expect(downloads.count == 2 && running.allSatisfy { $0.state == .downloaded })
    #expect(added.allSatisfy { $0.state == .new && $0.snapshot.attempts == 0 })
    // An operation leaves its queue a moment after it has said that it has ended.
    let deadline = ContinuousClock.now + .seconds(60)
    while chains.pending.downloadQueue.operationCount > 4 || !chains.pending.isIdle, ContinuousClock.now < deadline {
      usleep(1000)
    }
    #expect(chains.pending.downloadQueue.operationCount == 4 && chains.pending.isIdle)
    chains.pending.resumeAll()
    try chains.fetch(server.url("go?4"))
    #expect(chains.ended(6).allSatisfy { $0.state == .filtered })
  }

  // MARK: cancel()

  @Test func `cancelled before it starts, an operation is ready at once, and finishes without its work`() throws {
    let (chains, server) = (try Chains(downloads: 1), try Self.gate())
    try chains.start(0, url: server.url("0"))
    _ = try server.nextLine()
    let waiting = try chains.start(1, url: server.url("1"))
    let chain = try #require(chains.operations(of: 1))
    #expect(!chain.filtration.isReady, "it depends on its download")
    chains.pending.cancel(run: 1) { $0 == 1 }
    #expect(chain.download.isCancelled && !chain.filtration.isFinished, "it ends after its download")
    try chains.fetch(server.url("go?9"))
    #expect(Set(chains.ended(2).map(\.entry.position)) == [0, 1])
    #expect(waiting.state == .cancelled && waiting.snapshot.attempts == 0)
    #expect(chain.download.isFinished && chain.filtration.isFinished)
  }

  @Test func `cancelled while it runs, an operation ends soon, and the next one starts`() throws {
    let (chains, server) = (try Chains(downloads: 1), try Self.gate())
    let records = try (0..<2).map { try chains.start($0, url: server.url("\($0)")) }
    #expect(try server.nextLine() == "/0")
    chains.pending.cancel(run: 1) { $0 == 0 }
    #expect(chains.ended(1).map(\.entry.position) == [0])
    #expect(records[0].state == .cancelled)
    #expect(try server.nextLine() == "/1")
    // The first was let go of by nobody.
    try chains.fetch(server.url("go?2"))
    #expect(chains.ended(1).map(\.state) == [.filtered])
    #expect(try chains.staged == [#require(records[1].artifacts[.result]).delivery.staged])
  }

  @Test func `cancelled after it has finished, an operation stays what it is, and so does its result`() throws {
    let chains = try Chains()
    let record = try chains.start(0)
    let chain = try #require(chains.operations(of: 0))
    chain.filtration.waitUntilFinished()
    chains.pending.cancel(run: 1) { _ in true }
    record.cancel()
    #expect(chain.filtration.isFinished && record.state == .filtered)
    #expect(chains.ended(1).map(\.state) == [.filtered])
    #expect(try chains.staged == [#require(record.artifacts[.result]).delivery.staged])
    #expect(chains.more().isEmpty)
  }

  // MARK: completionBlock

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `each entry completes once, whatever is suspended, resumed and cancelled when`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let chains = try Chains(downloads: 3, filtrations: 2)
    let sources = [Chains.source, "missing.png", "rocket.jpg", "CREDITS.md", "ftp://h/x"]
    let count = 150
    var ends = Array(repeating: 0, count: count)
    var next = 0
    func take(_ records: [PhotoRecord]) {
      for record in records {
        ends[record.entry.position] += 1
        #expect([.filtered, .failed, .cancelled].contains(record.state))
        chains.pending.remove(record)
      }
    }
    while next < count {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: chains.pending.suspendAll()
      case 1, 2: chains.pending.resumeAll()
      case 3: chains.pending.cancelWaiting()
      case 4:
        let chosen = Int.random(in: 0...next, using: &random)
        chains.pending.cancel(run: 1) { $0 >= chosen - 2 && $0 <= chosen }
      case 5: take(chains.more())
      default:
        try chains.start(next, url: sources.randomElement(using: &random) ?? "", recipe: "sepia(1)")
        next += 1
      }
    }
    chains.pending.resumeAll()
    while ends.reduce(0, +) < count { take(chains.ended(1)) }
    // An operation leaves its queue a moment after it has said that it has ended.
    for queue in [chains.pending.downloadQueue, chains.pending.filtrationQueue] {
      queue.waitUntilAllOperationsAreFinished()
    }
    chains.engine.shutdown()
    #expect(chains.more().isEmpty && ends.allSatisfy { $0 == 1 } && chains.pending.inProgress.isEmpty)
  }

  // MARK: addDependency(_:)

  /// A finished dependency may have failed or been cancelled: what depends on it starts all the same, and must look itself.
  @Test(arguments: ["finished", "failed", "cancelled"])
  func `a filtration is ready when its download has finished, failed or been cancelled, and works only after the first`(
    how: String
  ) throws {
    let chains = try Chains()
    chains.pending.filtrationQueue.isSuspended = true
    if how == "cancelled" { chains.pending.downloadQueue.isSuspended = true }
    let record = try chains.start(0, url: how == "failed" ? "missing.png" : Chains.source, recipe: "sepia(1)")
    let chain = try #require(chains.operations(of: 0))
    #expect(chain.filtration.dependencies == [chain.download])
    if how == "cancelled" {
      #expect(!chain.filtration.isReady)
      chain.download.cancel()
      record.cancel()
      chains.pending.downloadQueue.isSuspended = false
    }
    chain.download.waitUntilFinished()
    #expect(!chain.filtration.isFinished)
    chains.pending.filtrationQueue.isSuspended = false
    #expect(chains.ended(1).count == 1)
    let expected: PhotoRecord.State = how == "finished" ? .filtered : how == "failed" ? .failed : .cancelled
    #expect(record.state == expected && (record.snapshot.timings.filter != nil) == (how == "finished"))
    #expect(try chains.staged.count == (how == "finished" ? 1 : 0))
  }
}
