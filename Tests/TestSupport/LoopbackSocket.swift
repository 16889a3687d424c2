import Foundation

/// TCP on 127.0.0.1, as far as tests need it themselves.
package enum LoopbackSocket {
  /// A port on which nobody listens during the whole test run, on any address.
  package static var closedPort: Int { get throws { try closed.get().number } }

  private static let closed = Result { try ReservedPort(onAnyAddress: true) }

  /// Whether somebody accepts connections on the port.
  package static func answers(port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = loopback(port: port)
    return withSocketAddress(&address) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
  }

  /// Asks an HTTP server for a path, and waits until it has answered and closed the connection.
  package static func request(_ path: String, port: Int) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    let connection = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var address = loopback(port: port)
    guard withSocketAddress(&address, { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }) == 0
    else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    try connection.write(contentsOf: Data("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8))
    _ = try connection.readToEnd()
  }

  fileprivate static func loopback(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }

  fileprivate static func withSocketAddress<Result>(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Result
  ) -> Result {
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
    }
  }
}

/// A port of 127.0.0.1 that the system chooses for nobody else as long as the value lives. A server that sets `SO_REUSEADDR`,
/// as servers do, may listen on it; until one does, connections are refused.
package final class ReservedPort: Sendable {
  package let number: Int

  private let descriptor: Int32

  /// - Parameter onAnyAddress: Whether it is reserved on all addresses of the machine. Default: on 127.0.0.1.
  package init(onAnyAddress: Bool = false) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    var (address, isReusable) = (LoopbackSocket.loopback(port: 0), Int32(1))
    if onAnyAddress { address.sin_addr.s_addr = 0 }
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReusable, socklen_t(MemoryLayout<Int32>.size))
    let code = LoopbackSocket.withSocketAddress(&address) { [descriptor] pointer in
      bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
    }
    number = Int(UInt16(bigEndian: address.sin_port))
    guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
  }

  deinit { close(descriptor) }
}
