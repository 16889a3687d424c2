import Foundation
import System
import TestSupport
import Testing

@testable import Transfer

@Suite(.blocking) struct SoakTests {
  /// Whether `DARKROOM_TEST_TRANSFERS` says how many transfers; then this test should be the only one that runs.
  private static let isAlone = ProcessInfo.processInfo.environment["DARKROOM_TEST_TRANSFERS"] != nil
  /// How many transfers. Default: 1000.
  private static let count = ProcessInfo.processInfo.environment["DARKROOM_TEST_TRANSFERS"].flatMap(Int.init) ?? 1000

  private static let faults: [(path: String, codes: Set<TransferError.Code>)] = [
    ("reset", [.network]), ("empty", [.network]), ("stall-before-header", [.timeout]), ("stall-mid-body", [.timeout]),
    ("endless", [.tooLarge]), ("announced-too-large", [.tooLarge]), ("short", [.truncated]),
    ("short-chunked", [.truncated, .network]), ("reset-mid-body", [.network]), ("long", [.truncated]),
    ("trickle", [.timeout]), ("early-hints-for-ever", [.tooLarge]), ("heavy-redirects", [.tooLarge]),
    ("redirect-loop", [.tooManyRedirects]), ("redirect-to-file", [.schemeNotAllowed]),
    ("redirect-to-metadata", [.addressNotAllowed]), ("status/404", [.httpStatus]), ("status/503", [.httpStatus]),
    ("endless-error", [.httpStatus]), ("garbage", [.network]), ("http-0.9", [.network]), ("many-headers", [.tooLarge]),
    ("long-header", [.tooLarge]),
  ]

  @Test("every transfer ends as it should among many that fail, and nothing is left open")
  func mixed() async throws {
    let server = try FaultServer.start()
    let folder = try TemporaryFolder()
    try Data(repeating: 7, count: 20_000).write(to: URL(fileURLWithPath: folder.file("a")))
    let nginx = try Nginx(serving: folder.path)
    try await soak(server, nginx)
    #expect(try Footprint().sockets(to: [server.port, nginx.port]) == 0)
  }

  /// Runs everything on one engine, which is gone afterwards.
  private func soak(_ server: PythonServer, _ nginx: Nginx) async throws {
    let downloads = try Downloads {
      ($0.timeout, $0.maxBytes, $0.perHost) = (.seconds(4), 64 << 10, HostLimit(fixed: 16))
    }
    // Connections exist and libraries are loaded: from here on nothing may grow.
    try await run(0..<min(300, Self.count / 3), downloads, server, nginx)
    let before = try Footprint()
    try await run(0..<Self.count, downloads, server, nginx)
    let after = try Footprint()
    #expect(try after.sockets(to: [server.port, nginx.port]) <= 64)
    // What other tests of the process do at the same time counts, too; so this is checked only when the test runs alone.
    if Self.isAlone {
      #expect(after.descriptors <= before.descriptors + 32)
      #expect(after.kilobytes <= before.kilobytes + 32 << 10)
    }
  }

  private func run(_ numbers: Range<Int>, _ downloads: Downloads, _ server: PythonServer, _ nginx: Nginx) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in numbers {
        if number >= numbers.lowerBound + 64 { try await group.next() }
        group.addTask {
          let fault = number % 10 == 0 ? Self.faults[number / 10 % Self.faults.count] : nil
          let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
          defer { close(null) }
          let result = try await downloads.fetch(fault.map { server.url($0.path) } ?? nginx.url("a"), to: null)
          switch (result, fault) {
          case (.success(let outcome), nil): #expect(outcome.bytes == 20_000)
          case (.failure(let error), let fault?):
            // A machine that is busy enough turns anything into a timeout.
            #expect(fault.codes.union([.timeout]).contains(error.code), "\(fault.path): \(error.message)")
          case (.success, let fault?): Issue.record("\(fault.path) succeeded")
          case (.failure(let error), nil): Issue.record("\(error.message)")
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// The process's descriptors and memory, by `/proc/self`.
  private struct Footprint {
    let descriptors: Int
    let kilobytes: Int

    init() throws {
      descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
      kilobytes = line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    /// The connections of this process to ports of 127.0.0.1 that are established.
    func sockets(to ports: [Int]) throws -> Int {
      let own = Set(
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        })
      let table = try String(contentsOfFile: "/proc/self/net/tcp", encoding: .utf8).split(separator: "\n").dropFirst()
      return table.filter { line in
        let fields = line.split(separator: " ")
        let port = fields[2].split(separator: ":").last.flatMap { Int($0, radix: 16) }
        return ports.contains(port ?? 0) && own.contains("socket:[\(fields[9])]")
      }.count
    }
  }
}
