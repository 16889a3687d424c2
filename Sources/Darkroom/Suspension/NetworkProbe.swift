import Foundation
import Glibc
import System
import Transfer

/// Finds out whether a host, or the proxy that leads to it, can be reached: with a TCP connection and, if asked for, a
/// request that any server answers in some way.
struct NetworkProbe: Sendable {
  private let endpoint: HostEndpoint

  /// The host that the request is for.
  private let name: String
  private let needsAnswer: Bool

  /// nil for a proxy: it is trusted.
  private let policy: AddressPolicy?

  /// How long connecting may take and how long an answer may, in milliseconds.
  private static let timeout: Int32 = 3000

  /// How many addresses are tried.
  private static let addressLimit = 4

  /// - Parameters:
  ///   - url: A URL of the host.
  ///   - needsAnswer: Whether a connection is not enough. It always is with a proxy.
  init?(url: String, needsAnswer: Bool, configuration: TransferConfiguration) {
    guard let location = try? SourceLocation(parsing: url), let name = location.host else { return nil }
    self.name = name
    let proxy = configuration.proxies.proxy(forScheme: location.scheme.rawValue, host: name)
    guard let endpoint = proxy.map(Self.endpoint) ?? HostEndpoint(location) else { return nil }
    self.endpoint = endpoint
    self.needsAnswer = needsAnswer && proxy == nil
    policy = proxy == nil ? configuration.addressPolicy : nil
  }

  private static func endpoint(ofProxy url: String) -> HostEndpoint? {
    guard let parts = URLComponents(string: url.contains("://") ? url : "http://" + url), let host = parts.host,
      let location = try? SourceLocation(parsing: "http://\(host):\(parts.port ?? 1080)/")
    else { return nil }
    return HostEndpoint(location)
  }

  /// Finds the addresses to connect to.
  /// - Parameters:
  ///   - isAfresh: Whether the resolver is asked for a name whose addresses are known.
  ///   - completion: Called once, on any thread; it must return quickly.
  func findAddresses(
    with engine: TransferEngine, isAfresh: Bool, completion: @escaping @Sendable ([IPAddress]) -> Void
  ) {
    switch endpoint.host {
    case .addresses(let addresses): completion(addresses)
    case .name(let name): engine.findAddresses(of: name, isAfresh: isAfresh, completion: completion)
    }
  }

  /// Blocks the thread until it is known whether one of the addresses is reachable: for some seconds.
  func run(_ addresses: [IPAddress]) -> Bool {
    addresses.prefix(Self.addressLimit).contains { address in
      policy.map { $0.verdict(for: address) == .allowed } != false && isReachable(address)
    }
  }

  private func isReachable(_ address: IPAddress) -> Bool {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(address.family, type, 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    let begins = address.withSocketAddress(port: endpoint.port) { connect(socket, $0, $1) == 0 || errno == EINPROGRESS }
    guard begins, wait(socket, for: POLLOUT) else { return false }
    var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0, error == 0 else { return false }
    return !needsAnswer || answers(socket)
  }

  /// A server of TLS answers such a request, too: with an alert, or by ending the connection.
  private func answers(_ socket: Int32) -> Bool {
    let request = Array("HEAD / HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n".utf8)
    guard uninterrupted({ send(socket, request, request.count, Int32(MSG_NOSIGNAL)) }) == request.count,
      wait(socket, for: POLLIN)
    else { return false }
    var byte: UInt8 = 0
    return uninterrupted { recv(socket, &byte, 1, 0) } >= 0
  }

  private func wait(_ socket: Int32, for events: Int32) -> Bool {
    var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
    return uninterrupted({ poll(&entry, 1, Self.timeout) }) == 1
  }
}
