import Foundation
import Synchronization
import TestSupport
import System
import Testing

@testable import Transfer

@Suite(.blocking) struct OpenConnectionsTests {
  /// A TCP connection over loopback. The listener and the server's end are closed with it, the client's is not.
  private final class Pair {
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let server: Int32
    private let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)

    /// - Parameters:
    ///   - host: The last octet of the server's address, 127.0.0.x.
    ///   - localPort: The client's port. Default: any.
    init(host: UInt8, localPort: Int = 0) throws {
      try Self.bind(listener, host, port: 0)
      try #require(listen(listener, 1) == 0)
      try Self.bind(client, 1, port: localPort)
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isConnected = Self.withAddress(&address) { [client, listener] in
        getsockname(listener, $0, &length) == 0 && connect(client, $0, length) == 0
      }
      try #require(isConnected)
      server = accept(listener, nil, nil)
      try #require(server >= 0)
    }

    deinit {
      close(server)
      close(listener)
    }

    private static func bind(_ socket: Int32, _ host: UInt8, port: Int) throws {
      var isReused: Int32 = 1
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = (0x7f00_0000 | UInt32(host)).bigEndian
      let length = socklen_t(MemoryLayout<sockaddr_in>.size)
      try #require(withAddress(&address) { Glibc.bind(socket, $0, length) } == 0)
    }

    private static func withAddress<Result>(
      _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
    ) -> Result {
      withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
    }
  }

  enum Use: CaseIterable { case none, requested, idle, multiplexed }

  @Test("a socket counts until it is closed, also one of HTTP/2", arguments: Use.allCases)
  func closed(use: Use) throws {
    let connections = OpenConnections()
    let pair = try Pair(host: 1)
    connections.add(pair.client)
    let endpoints = try #require(OpenConnections.Endpoints(of: pair.client))
    if use != .none { #expect(connections.beginRequest(over: endpoints, opened: [pair.client], .none)) }
    if use == .idle || use == .multiplexed {
      connections.endRequest(over: endpoints, isMultiplexed: use == .multiplexed)
    }
    #expect(connections.count == 1)
    #expect(connections.close(pair.client) == 0)
    #expect(connections.count == 0)
  }

  /// Which sockets are said to have been opened for a request.
  enum Opened: CaseIterable { case none, own, both, other }

  @Test(
    "connections to different hosts that share a local port are told apart, for whichever request they were opened",
    arguments: Opened.allCases)
  func sharedPort(_ kind: Opened) throws {
    let connections = OpenConnections()
    let first = try Pair(host: 1)
    let ends = try #require(OpenConnections.Endpoints(of: first.client))
    let second = try Pair(host: 2, localPort: ends.localPort)
    let others = try #require(OpenConnections.Endpoints(of: second.client))
    #expect(others.localPort == ends.localPort)
    connections.add(first.client)
    connections.add(second.client)
    let opened: [Int32] =
      switch kind {
      case .none: []
      case .own: [first.client]
      case .both: [first.client, second.client]
      case .other: [second.client]
      }
    #expect(connections.beginRequest(over: ends, opened: opened, .none))
    connections.endRequest(over: ends, isMultiplexed: false)
    try #require(send(first.server, "x", 1, 0) == 1)
    var readable = pollfd(fd: first.client, events: Int16(POLLIN), revents: 0)
    try #require(poll(&readable, 1, -1) == 1)
    #expect(connections.beginRequest(over: others, opened: [], .none))
    #expect(!connections.beginRequest(over: ends, opened: [], .none))
    for pair in [first, second] { #expect(connections.close(pair.client) == 0) }
  }

  @Test("the loop records no socket that libcurl has closed")
  func closedByLibcurl() async throws {
    let server = try FaultServer.shared
    var configuration = TransferConfiguration()
    configuration.addressPolicy = AddressPolicy(allowing: [Network("127.0.0.0/8")])
    // Used by the loop's thread, and after that has ended.
    nonisolated(unsafe) let multi = MultiHandle()
    let mailbox = try Mailbox<TransferOrder>()
    let thread = try NativeThread("loop") { [configuration] in
      TransferLoop(configuration: configuration, mailbox: mailbox, multi: multi) { NameLookup(system: $0) }.run()
    }
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let request = TransferRequest(
      location: try SourceLocation(parsing: server.url("gzip")), destination: BodyStore(descriptor: null))
    for number in 0..<20 {
      let result = await withCheckedContinuation { continuation in
        let id = TransferID(number: UInt64(number))
        mailbox.post(.start(QueuedTransfer(id: id, request: request) { continuation.resume(returning: $0) }))
      }
      _ = try result.get()
    }
    mailbox.close()
    thread.join()
    #expect(multi.openConnections.count == 0)
  }
}
