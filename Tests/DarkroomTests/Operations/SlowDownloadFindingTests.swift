import Foundation
import System
import Testing
import TestSupport
import Transfer

@testable import Model
@testable import Operations

/// Which downloads are found to be slow: those to which bytes could have come for a minute, and what waits for these.
@Suite(.blocking) struct SlowDownloadFindingTests {
  /// More than what makes a download slow in a minute, and less.
  enum Pace: String, CaseIterable {
    case many, few
    var bytes: Int { self == .many ? 700_000 : 1000 }
  }

  /// A server that sends a part of an answer, and the rest when `/go` is asked for.
  private func server() throws -> PythonServer {
    try PythonServer(
      PythonServer.prelude + """
        gate = threading.Event()

        def answer(connection, path):
            if path == "/go":
                gate.set()
            connection.sendall(b"HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: 700001\\r\\n\\r\\n")
            first = 700000 if path.startswith("/many") else 1000
            connection.sendall(b"x" * first)
            gate.wait()
            connection.sendall(b"x" * (700001 - first))

        serve()
        """)
  }

  /// Starts a download, and waits until the part has come.
  private func startFirst(_ chains: Chains, _ server: PythonServer, _ pace: Pace) throws {
    try chains.start(0, url: server.url(pace.rawValue))
    let progress = try #require(chains.operations(of: 0)?.download.progress)
    while progress.bytes < pace.bytes { usleep(200) }
  }

  /// The positions of those that are found a minute from now, and later ones until there are as many.
  private func found(_ chains: Chains, atLeast count: Int) -> Set<Int> {
    var now = Clock.monotonicMilliseconds + 61_000
    var found = Set(chains.pending.findSlowDownloads(now: now).map(\.entry.position))
    while found.count < count {
      usleep(200)
      now += 5000
      found.formUnion(chains.pending.findSlowDownloads(now: now).map(\.entry.position))
    }
    return found
  }

  @Test(arguments: Pace.allCases)
  func `a download that waits for another of the same request is as slow as that`(pace: Pace) throws {
    let (chains, server) = (try Chains(), try server())
    try startFirst(chains, server, pace)
    try chains.start(1, url: server.url(pace.rawValue))
    while chains.pending.shared.downloads.waitingCount < 1 { usleep(200) }
    #expect(found(chains, atLeast: pace == .many ? 0 : 2) == (pace == .many ? [] : [0, 1]))
    chains.pending.cancelAll()
    _ = chains.ended(2)
    #expect(chains.pending.room.slow.count == 0)
  }

  @Test(arguments: Pace.allCases)
  func `a download that waits for a slot of its host is slow only behind slow ones`(pace: Pace) throws {
    let (chains, server) = (try Chains(perHost: HostLimit(fixed: 1)), try server())
    try startFirst(chains, server, pace)
    try chains.start(1, url: server.url(pace.rawValue + "/other"))
    while chains.operations(of: 1)?.download.isExecuting != true { usleep(200) }
    #expect(found(chains, atLeast: pace == .many ? 0 : 2) == (pace == .many ? [] : [0, 1]))
    chains.pending.cancelAll()
    _ = chains.ended(2)
    #expect(chains.pending.room.slow.count == 0)
  }
}
