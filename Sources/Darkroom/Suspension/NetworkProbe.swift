import Foundation
import Glibc
import System
import Transfer

/// Finds out whether a host, or the proxy that leads to it, can be reached: with a TCP connection and, if asked for, a
/// request that any server answers in some way.
struct NetworkProbe: Sendable {
  private let host: String
  private let port: String
  private let name: String
  private let needsAnswer: Bool

  /// nil for a proxy: it is trusted.
  private let policy: AddressPolicy?

  /// How long connecting may take and how long an answer may, in milliseconds.
  private static let timeout: Int32 = 3000

  /// - Parameters:
  ///   - url: A URL of the host.
  ///   - needsAnswer: Whether a connection is not enough. It always is with a proxy.
  init?(url: String, needsAnswer: Bool, configuration: TransferConfiguration) {
    guard let location = try? SourceLocation(parsing: url), let name = location.host else { return nil }
    self.name = name
    let proxy = configuration.proxies.proxy(forScheme: location.scheme.rawValue, host: name)
    let text = proxy.map { $0.contains("://") ? $0 : "http://" + $0 } ?? location.requestText
    guard let parts = URLComponents(string: text), let host = parts.host else { return nil }
    self.host = host.trimmingCharacters(in: ["[", "]"])
    let standard = proxy == nil ? (location.scheme == .https ? 443 : 80) : 1080
    port = String(parts.port ?? standard)
    self.needsAnswer = needsAnswer && proxy == nil
    policy = proxy == nil ? configuration.addressPolicy : nil
  }

  /// Blocks the thread until it is known: for as long as resolving takes, and some seconds.
  func run() -> Bool {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, port, &hints, &found) == 0 else { return false }
    defer { freeaddrinfo(found) }
    return sequence(first: found) { $0?.pointee.ai_next }.prefix { $0 != nil }.prefix(4).contains {
      $0.map { isAllowed($0.pointee) && isReachable($0.pointee) } ?? false
    }
  }

  private func isAllowed(_ info: addrinfo) -> Bool {
    guard let policy else { return true }
    var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard getnameinfo(info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
    else { return false }
    let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return IPAddress(address.prefix { $0 != "%" }).map { policy.verdict(for: $0) == .allowed } ?? false
  }

  private func isReachable(_ info: addrinfo) -> Bool {
    let type = info.ai_socktype | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(info.ai_family, type, info.ai_protocol)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    guard connect(socket, info.ai_addr, info.ai_addrlen) == 0 || errno == EINPROGRESS, wait(socket, for: POLLOUT)
    else { return false }
    var (error, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
    guard getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0, error == 0 else { return false }
    return !needsAnswer || answers(socket)
  }

  /// A server of TLS answers such a request, too: with an alert, or by ending the connection.
  private func answers(_ socket: Int32) -> Bool {
    let request = Array("HEAD / HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n".utf8)
    guard send(socket, request, request.count, Int32(MSG_NOSIGNAL)) == request.count,
      wait(socket, for: POLLIN)
    else { return false }
    var byte: UInt8 = 0
    return recv(socket, &byte, 1, 0) >= 0
  }

  private func wait(_ socket: Int32, for events: Int32) -> Bool {
    var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
    return poll(&entry, 1, Self.timeout) == 1
  }
}
